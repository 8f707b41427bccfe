// SPDX-License-Identifier: Apache-2.0
import Testing
import TypeEncodings

@testable import Invocations

/// The expected places are from the manuals, and were compared with the code of gcc 12 and clang 21
/// for the machine.
@Suite("Places of values on any machine")
struct CallPlacesTests {
  /// A result and arguments, and the place of each, the result first.
  typealias Row = (encoding: String, places: [String])

  private static func places(_ encoding: String, _ machine: Machine) throws -> CallPlaces {
    try CallPlaces(MethodSignature(utf8: Array(encoding.utf8), for: machine))
  }

  private static func expect(
    _ row: Row, _ machine: Machine, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let places = try places(row.encoding, machine)
    let texts = [places.result.text] + places.arguments.map(\.text)
    #expect(texts == row.places, "\(row.encoding)", sourceLocation: sourceLocation)
  }

  @Test(
    "AAPCS64: integers and addresses use x0 to x7, then the stack",
    arguments: [
      ("v", ["nowhere"]),
      ("i@:ci", ["x0", "x0", "x1", "x2", "x3"]),
      ("Bq*#^v^?B", ["x0", "x0", "x1", "x2", "x3", "x4", "x5"]),
      ("vqqqqqqqq", ["nowhere", "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"]),
      (
        "vqqqqqqqqcs",
        ["nowhere", "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "stack+0", "stack+8"]
      ),
      ("v[4d]f", ["nowhere", "x0", "v0"]),
    ] as [Row])
  func integers(row: Row) throws { try Self.expect(row, .aarch64Linux) }

  @Test(
    "AAPCS64: floating numbers use one of v0 to v7 each, whatever their size",
    arguments: [
      ("fdD", ["v0", "v0", "v1"]), ("DDi", ["v0", "v0", "x0"]),
      ("dqdqd", ["v0", "x0", "v0", "x1", "v1"]),
      (
        "vddddddddfq",
        ["nowhere", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "stack+0", "x0"]
      ),
      // A quad on the stack is aligned to 16 bytes.
      (
        "vddddddddfDd",
        [
          "nowhere", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "stack+0", "stack+16",
          "stack+32",
        ]
      ),
    ] as [Row])
  func floatingNumbers(row: Row) throws { try Self.expect(row, .aarch64Linux) }

  @Test(
    "AAPCS64: one to four members of one floating type use a register each, or none",
    arguments: [
      ("{S=dddd}{S=f}{S=ff}", ["v0:v1:v2:v3", "v0", "v1:v2"]),
      ("{S=DD}{S=[2D]}jd", ["v0:v1", "v0:v1", "v2:v3"]),
      ("jf{S={T=f}[2f]}(U=f[3f])", ["v0:v1", "v0:v1:v2", "v3:v4:v5"]),
      // Too many for the remaining registers: all use the stack, and so do later vector values.
      (
        "v{S=dddd}{S=ddd}{S=dd}di",
        ["nowhere", "v0:v1:v2:v3", "v4:v5:v6", "stack+0", "stack+16", "x0"]
      ),
      (
        "vdddddd{S=fff}f",
        [
          "nowhere", "v0", "v1", "v2", "v3", "v4", "v5", "stack+0", "stack+16",
        ]
      ),
      // Five members are too many, and mixed types do not qualify.
      ("v{S=fffff}{S=fd}{S=fi}", ["nowhere", "address of a copy in x0", "x1:x2", "x3"]),
    ] as [Row])
  func homogeneous(row: Row) throws { try Self.expect(row, .aarch64Linux) }

  @Test(
    "AAPCS64: other structures of up to 16 bytes use one or two words, never split",
    arguments: [
      ("{S=qq}{S=ccc}{S=[9c]}", ["x0:x1", "x0", "x1:x2"]),
      ("(U=qd)(U=d[2f])ji", ["x0", "x0", "x1"]),
      // A structure is not split between a register and the stack, and no later value uses a
      // register.
      (
        "vqqqqqqq{S=qq}q",
        ["nowhere", "x0", "x1", "x2", "x3", "x4", "x5", "x6", "stack+0", "stack+16"]
      ),
      ("v{E=}i{S=i[0f]f}", ["nowhere", "nowhere", "x0", "x1"]),
    ] as [Row])
  func words(row: Row) throws { try Self.expect(row, .aarch64Linux) }

  @Test(
    "AAPCS64: a value aligned to 16 bytes begins in an even register",
    arguments: [
      ("tit", ["x0:x1", "x0", "x2:x3"]), ("{S=t}@:{S=t}i", ["x0:x1", "x0", "x1", "x2:x3", "x4"]),
      // The skipped odd register stays empty, and so does the last one.
      (
        "viiiiiiitq",
        ["nowhere", "x0", "x1", "x2", "x3", "x4", "x5", "x6", "stack+0", "stack+16"]
      ),
      (
        "viiiiiiiiit",
        [
          "nowhere", "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "stack+0", "stack+16",
        ]
      ),
    ] as [Row])
  func even(row: Row) throws { try Self.expect(row, .aarch64Linux) }

  @Test(
    "AAPCS64: larger structures are passed as the address of a copy, and results in memory at x8",
    arguments: [
      ("{S=qqq}@:i", ["memory (pointer in x8)", "x0", "x1", "x2"]),
      ("{S=ddddd}{S=ddddd}d", ["memory (pointer in x8)", "address of a copy in x0", "v0"]),
      (
        "vqqqqqqqq{S=[17c]}c",
        [
          "nowhere", "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7",
          "address of a copy at stack+0", "stack+8",
        ]
      ),
      // The copy's alignment does not apply to its address.
      ("vi{S=tc}i", ["nowhere", "x0", "address of a copy in x1", "x2"]),
    ] as [Row])
  func copies(row: Row) throws { try Self.expect(row, .aarch64Linux) }

  @Test(
    "System V: eightbyte classes, memory before all arguments, x87",
    arguments: [
      ("i@:fd", ["rax", "rdi", "rsi", "xmm0", "xmm1"]),
      ("{S=qd}{S=dq}{S=ff}", ["rax:xmm0", "xmm0:rdi", "xmm1"]),
      ("{S=qqq}i{S=qqq}", ["memory (pointer in rdi)", "rsi", "stack+0"]),
      ("DDt", ["st0", "stack+0", "rdi:rsi"]), ("jDf", ["st0:st1", "xmm0"]),
      ("viiiii{S=qq}i", ["nowhere", "rdi", "rsi", "rdx", "rcx", "r8", "stack+0", "r9"]),
      ("{S=dddd}{S=dd}{S=ddd}", ["memory (pointer in rdi)", "xmm0:xmm1", "stack+0"]),
      ("v@:{R={P=dd}{S=dd}}i", ["nowhere", "rdi", "rsi", "stack+0", "rdx"]),
      ("{M=id}@:{M=id}", ["rax:xmm0", "rdi", "rsi", "rdx:xmm0"]),
      ("{M=dq}{M=dq}", ["xmm0:rax", "xmm0:rdi"]),
      (
        "v@:iiif{P=cd}", ["nowhere", "rdi", "rsi", "rdx", "rcx", "r8", "xmm0", "r9:xmm1"]
      ),
      ("D{e=}Dt(U=fi)jf", ["st0", "nowhere", "stack+0", "rdi:rsi", "rdx", "xmm0"]),
      ("jD[3i]^?", ["st0:st1", "rdi", "rsi"]),
    ] as [Row])
  func systemV(row: Row) throws { try Self.expect(row, .x86_64Linux) }

  @Test("places are values: registers, stack and copies")
  func values() throws {
    let places = try Self.places("{S=qqq}qqqqqqq{S=tc}{S=[17c]}{S=ff}", .aarch64Linux)
    #expect(places.result.registers == ["x8"] && places.result.stackOffset == nil)
    #expect(places.arguments[7].registers == ["x7"] && places.arguments[7].isCopied)
    #expect(places.arguments[8].registers.isEmpty && places.arguments[8].isCopied)
    #expect(places.arguments[8].stackOffset == 0)
    #expect(places.arguments[9].registers == ["v0", "v1"] && !places.arguments[9].isCopied)
    #expect(places.stackSize == 8)
  }

  @Test("variadic arguments are promoted, and passed like others")
  func variadic() throws {
    let signature = try MethodSignature(utf8: Array("i*fc".utf8), for: .aarch64Linux)
    let places = try CallPlaces(signature, fixedArgumentCount: 1)
    #expect(places.arguments.map(\.text) == ["x0", "v0", "x1"])
  }

  @Test(
    "a signature that this machine refuses is refused for another",
    arguments: [
      ("v{S=Af}", .aarch64Linux), ("v{opaque}", .aarch64Linux), ("v![16,16f]", .aarch64Linux),
      ("v{S=[0f]f}", .aarch64Linux),
      ("[2i]", .aarch64Linux), ("v{F=i[0i]}", .x86_64Linux), ("v{S=[65537c]}", .aarch64Linux),
    ] as [(String, Machine)])
  func refused(encoding: String, machine: Machine) {
    #expect(throws: InvocationError.self) { try Self.places(encoding, machine) }
  }

  @Test("an empty array counts on machines whose compilers count it")
  func perMachine() throws {
    #expect(try Self.places("v{F=i[0i]}", .aarch64Linux).arguments[0].text == "x0")
    #expect(try Self.places("v{S=Af}", .x86_64Linux).arguments[0].text == "xmm0")
  }
}
