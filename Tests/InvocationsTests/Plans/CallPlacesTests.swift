// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Invocations
import Testing
import TypeEncodings

/// The expected places are from the manuals, and were compared with the code of gcc 12 and clang 21
/// for the machine.
@Suite("Places of values on any machine")
struct CallPlacesTests {
  /// A result and arguments, and the place of each, the result first.
  typealias Row = (encoding: String, places: String)

  private static func places(
    _ encoding: String, _ machine: Machine, fixed: Int? = nil
  ) throws -> CallPlaces {
    try CallPlaces(
      MethodSignature(utf8: Array(encoding.utf8), for: machine), fixedArgumentCount: fixed)
  }

  private static func check(_ row: Row, _ machine: Machine) throws {
    let places = try places(row.encoding, machine)
    let all = [places.result] + places.arguments
    #expect(all.map(\.text).joined(separator: ", ") == row.places)
    guard machine == TestMachine.own, CallPlan.hasDirectEngine else { return }
    let plan = try CallPlan.shared(for: MethodSignature(parsing: row.encoding))
    #expect(plan.resultLocation == all[0])
    for (index, place) in places.arguments.enumerated() {
      #expect(try plan.location(ofArgument: index) == place)
    }
  }

  private static let rowsOfAAPCS64: [Row] = [
    // Integers and addresses use x0 to x7, then the stack.
    ("v", "nowhere"), ("i@:ci", "x0, x0, x1, x2, x3"), ("v[4d]f", "nowhere, x0, v0"),
    ("Bq*#^v^?B", "x0, x0, x1, x2, x3, x4, x5"),
    ("vqqqqqqqqcs", "nowhere, x0, x1, x2, x3, x4, x5, x6, x7, stack+0, stack+8"),
    // Floating numbers use one of v0 to v7 each, whatever their size. A quad on the stack is aligned
    // to 16 bytes.
    ("fdD", "v0, v0, v1"), ("DDi", "v0, v0, x0"), ("dqdqd", "v0, x0, v0, x1, v1"),
    (
      "vddddddddfqDd",
      "nowhere, v0, v1, v2, v3, v4, v5, v6, v7, stack+0, x0, stack+16, stack+32"
    ),
    // One to four members of one floating type use a register each, or none. If they are too many
    // for the remaining registers, all use the stack, and so do later vector values.
    ("{S=dddd}{S=f}{S=ff}", "v0:v1:v2:v3, v0, v1:v2"),
    ("{S=DD}{S=[2D]}jd", "v0:v1, v0:v1, v2:v3"),
    ("jf{S={T=f}[2f]}(U=f[3f])", "v0:v1, v0:v1:v2, v3:v4:v5"),
    ("v{S=dddd}{S=ddd}{S=dd}di", "nowhere, v0:v1:v2:v3, v4:v5:v6, stack+0, stack+16, x0"),
    ("vdddddd{S=fff}f", "nowhere, v0, v1, v2, v3, v4, v5, stack+0, stack+16"),
    // Five members are too many, and mixed types do not qualify.
    ("v{S=fffff}{S=fd}{S=fi}", "nowhere, address of a copy in x0, x1:x2, x3"),
    // Other structures of up to 16 bytes use one or two words. They are not split between a register
    // and the stack, and no later value uses a register.
    ("{S=qq}{S=ccc}{S=[9c]}", "x0:x1, x0, x1:x2"), ("(U=qd)(U=d[2f])ji", "x0, x0, x1"),
    ("vqqqqqqq{S=qq}q", "nowhere, x0, x1, x2, x3, x4, x5, x6, stack+0, stack+16"),
    ("v{E=}i{S=i[0f]f}", "nowhere, nowhere, x0, x1"), ("v{F=i[0i]}", "nowhere, x0"),
    // A value aligned to 16 bytes begins in an even register. The skipped odd register stays empty,
    // and so does the last one.
    ("tit", "x0:x1, x0, x2:x3"), ("{S=t}@:{S=t}i", "x0:x1, x0, x1, x2:x3, x4"),
    ("viiiiiiitq", "nowhere, x0, x1, x2, x3, x4, x5, x6, stack+0, stack+16"),
    ("viiiiiiiiit", "nowhere, x0, x1, x2, x3, x4, x5, x6, x7, stack+0, stack+16"),
    // Larger structures are passed as the address of a copy, and results in memory at x8. The
    // copy's alignment does not apply to its address.
    ("{S=qqq}@:i", "memory (pointer in x8), x0, x1, x2"),
    ("{S=ddddd}{S=ddddd}d", "memory (pointer in x8), address of a copy in x0, v0"),
    (
      "vqqqqqqqq{S=[17c]}c",
      "nowhere, x0, x1, x2, x3, x4, x5, x6, x7, address of a copy at stack+0, stack+8"
    ),
    ("vi{S=tc}i", "nowhere, x0, address of a copy in x1, x2"),
    // An empty array whose alignment does not matter.
    ("v{S=[0q]i}", "nowhere, x0"), ("v{S=[0t]qqq}", "nowhere, address of a copy in x0"),
    ("v^{S=[0t]i}", "nowhere, x0"), ("v{S=[0t]}", "nowhere, nowhere"),
  ]

  @Test(
    "AAPCS64: registers by kind, then the stack; copies; even registers", arguments: rowsOfAAPCS64)
  func aapcs64(row: Row) throws { try Self.check(row, .aarch64Linux) }

  private static let rowsOfSystemV: [Row] = [
    ("i@:fd", "rax, rdi, rsi, xmm0, xmm1"), ("{S=qd}{S=dq}{S=ff}", "rax:xmm0, xmm0:rdi, xmm1"),
    ("{S=qqq}i{S=qqq}", "memory (pointer in rdi), rsi, stack+0"),
    ("DDt", "st0, stack+0, rdi:rsi"), ("jDf", "st0:st1, xmm0"), ("v{S=Af}", "nowhere, xmm0"),
    ("viiiii{S=qq}i", "nowhere, rdi, rsi, rdx, rcx, r8, stack+0, r9"),
    ("{S=dddd}{S=dd}{S=ddd}", "memory (pointer in rdi), xmm0:xmm1, stack+0"),
    ("v@:{R={P=dd}{S=dd}}i", "nowhere, rdi, rsi, stack+0, rdx"),
    ("{M=id}@:{M=id}", "rax:xmm0, rdi, rsi, rdx:xmm0"), ("{M=dq}{M=dq}", "xmm0:rax, xmm0:rdi"),
    ("v@:iiif{P=cd}", "nowhere, rdi, rsi, rdx, rcx, r8, xmm0, r9:xmm1"),
    ("D{e=}Dt(U=fi)jf", "st0, nowhere, stack+0, rdi:rsi, rdx, xmm0"),
    ("jD[3i]^?", "st0:st1, rdi, rsi"), ("v{P=ii}{P=dd}", "nowhere, rdi, xmm0:xmm1"),
    // Only size and members count for an empty array.
    ("{P=[0t]i}{P=[0t]i}", "rax, rdi"),
    // An inner union is classified completely before it is merged with overlapping members. Its long
    // double overlaps a pointer, so it is of class memory, and so is its container.
    ("(A=(B=^vD)t)(A=(B=^vD)t)", "memory (pointer in rdi), stack+0"),
    ("(A={C=fI}(B=^vD)t)(A={C=fI}(B=^vD)t)", "memory (pointer in rdi), stack+0"),
    ("{S=[1(B=iD)]}{S=[1(B=iD)]}", "memory (pointer in rdi), stack+0"),
    ("{S=(A=(B=^vD)t)}{S=(A=(B=^vD)t)}", "memory (pointer in rdi), stack+0"),
    // In a single union with both as members, the integer class wins.
    ("(A=Dt)", "rax:rdx"),
  ]

  @Test("System V: eightbyte classes, memory before all arguments, x87", arguments: rowsOfSystemV)
  func systemV(row: Row) throws { try Self.check(row, .x86_64Linux) }

  @Test("on x86-64, every row of struct_return_x86_64.tsv agrees on the hidden pointer")
  func structReturns() throws {
    let rows = try Table("struct_return_x86_64").rows
    for row in rows {
      let places = try Self.places(row["encoding"] + "@:", .x86_64Linux)
      let isHidden = places.result.text == "memory (pointer in rdi)"
      #expect(isHidden == (row["returned-through-hidden-pointer"] == "yes"), "\(row["encoding"])")
    }
    #expect(rows.count == 326)
  }

  @Test("places are values: registers, stack and copies; variadic arguments are promoted")
  func values() throws {
    let places = try Self.places("{S=qqq}qqqqqqq{S=tc}{S=[17c]}{S=ff}", .aarch64Linux)
    #expect(places.result.registers == ["x8"] && places.result.stackOffset == nil)
    #expect(places.arguments[7].registers == ["x7"] && places.arguments[7].isCopied)
    #expect(places.arguments[8].registers.isEmpty && places.arguments[8].isCopied)
    #expect(places.arguments[8].stackOffset == 0)
    #expect(places.arguments[9].registers == ["v0", "v1"] && !places.arguments[9].isCopied)
    #expect(places.stackSize == 8)
    let variadic = try Self.places("i*fc", .aarch64Linux, fixed: 1)
    #expect(variadic.arguments.map(\.text) == ["x0", "v0", "x1"])
  }

  private typealias Refusal = (
    encoding: String, machines: [Machine], offset: Int, reason: TypeEncodingError.Reason
  )

  private static let refusals: [Refusal] = [
    ("v@:{opaque}", Machine.allCases, 3, .opaque),
    ("v@:{B=b3b5}", Machine.allCases, 6, .bitFieldWithoutStorage),
    ("v@:![16,16f]", Machine.allCases, 3, .vectorByValue),
    ("v@:{S=f![16,16f]}", Machine.allCases, 7, .vectorByValue),
    ("v@:<4f>", Machine.allCases, 3, .vectorWithoutAlignment),
    ("[3i]@:", Machine.allCases, 0, .arrayResult),
    ("v{S=Af}", [.aarch64Linux], 4, .compilersDisagree),
    ("v{S=[0f]f}", [.aarch64Linux], 4, .compilersDisagree),
    ("v{F=i[0i]}", [.x86_64Linux], 5, .compilersDisagree),
    // AAPCS64 looks at the alignment of the members. A string tells only that of the structure, so
    // C may use other registers than the string describes.
    ("v{FixturePadded=[0t]i}", [.aarch64Linux], 16, .compilersDisagree),
    ("{FixturePadded=[0t]i}", [.aarch64Linux], 15, .compilersDisagree),
    ("v{S=q[0T]}", [.aarch64Linux], 5, .compilersDisagree),
    ("v{S=[0D]f}", [.aarch64Linux], 4, .compilersDisagree),
    ("v{S={T=[0t]}q}", [.aarch64Linux], 7, .compilersDisagree),
    ("v(U=[0t]i)", [.aarch64Linux], 4, .compilersDisagree),
    ("v{S=[1{T=[0t]i}]}", [.aarch64Linux], 9, .compilersDisagree),
    ("v{S=[0{T=t}]i}", [.aarch64Linux], 4, .compilersDisagree),
    ("v{S=[0t]t}", [.aarch64Linux], 4, .compilersDisagree),
    ("v{S=[0t]D}", [.aarch64Linux], 4, .compilersDisagree),
  ]

  @Test(
    "a type that cannot be passed is refused at its place, with the reason", arguments: refusals)
  private func refused(row: Refusal) throws {
    let expected = InvocationError.encoding(
      TypeEncodingError(reason: row.reason, offset: row.offset, encoding: row.encoding))
    for machine in row.machines {
      #expect(throws: expected) { try Self.places(row.encoding, machine) }
      guard machine == TestMachine.own else { continue }
      #expect(throws: expected) { try CallPlan.shared(for: MethodSignature(parsing: row.encoding)) }
    }
  }

  @Test(
    "values and stacks above the limits are refused, for each machine",
    arguments: [
      "v@:{Big=[102400q]}", "{Big=[102400q]}@:", "v{B=[60000c]}{B=[60000c]}", "v{S=[65537c]}",
      "v" + String(repeating: "{B=[1000c]}", count: 100),
    ])
  func tooLarge(encoding: String) throws {
    for machine in Machine.allCases {
      let signature = try MethodSignature(utf8: Array(encoding.utf8), for: machine)
      #expect(throws: InvocationError.tooLarge(signature)) { try CallPlaces(signature) }
    }
    let signature = try MethodSignature(parsing: encoding)
    #expect(throws: InvocationError.tooLarge(signature)) { try CallPlan.shared(for: signature) }
  }
}
