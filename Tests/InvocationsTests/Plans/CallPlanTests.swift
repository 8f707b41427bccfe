// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Synchronization
import TypeEncodings
import Testing

@testable import Invocations

@Suite("Call plans")
struct CallPlanTests {
  private static func places(_ spelling: String, _ machine: Machine) throws -> CallPlaces {
    try CallPlaces(MethodSignature(utf8: Array(spelling.utf8), for: machine))
  }

  @Test("on x86-64, every row of struct_return_x86_64.tsv agrees on the hidden pointer")
  func structReturns() throws {
    var rows = 0
    for row in try Table("struct_return_x86_64").rows {
      let places = try Self.places(row["encoding"] + "@:", .x86_64Linux)
      let isHidden = places.result.text == "memory (pointer in rdi)"
      #expect(isHidden == (row["returned-through-hidden-pointer"] == "yes"), "\(row["encoding"])")
      rows += 1
    }
    #expect(rows == 326)
  }

  @Test("a plan has the places that are computed for its machine")
  func ownPlaces() throws {
    try #require(CallPlan.hasDirectEngine)
    for spelling in [
      "v@:{CGRect={CGPoint=dd}{CGSize=dd}}i", "{P=dd}@:{P=dd}", "{M=id}@:{M=id}", "{M=dq}{M=dq}",
      "v@:iiif{P=cd}", "v@:iii{P=qq}i", "D{e=}Dt(U=fi)jf", "jD[3i]^?", "{P=qqq}t{P=ffff}",
      // Two bodies of one name are both kept.
      "v{P=ii}{P=dd}",
    ] {
      let plan = try CallPlan.shared(for: MethodSignature(parsing: spelling))
      let places = try Self.places(spelling, TestMachine.own)
      let texts = try (0..<plan.argumentCount).map { try plan.location(ofArgument: $0).text }
      #expect(texts == places.arguments.map(\.text), "\(spelling)")
      #expect(plan.resultLocation.text == places.result.text, "\(spelling)")
    }
  }

  @Test(
    "a type that cannot be passed is refused with the reason",
    arguments: [
      ("v@:{opaque}", 3, .opaque), ("v@:{B=b3b5}", 6, .bitFieldWithoutStorage),
      ("v@:![16,16f]", 3, .vectorByValue), ("v@:{S=f![16,16f]}", 7, .vectorByValue),
      ("[3i]@:", 0, .arrayResult), ("v@:<4f>", 3, .vectorWithoutAlignment),
    ] as [(String, Int, TypeEncodingError.Reason)])
  func refusals(spelling: String, offset: Int, reason: TypeEncodingError.Reason) throws {
    let signature = try MethodSignature(parsing: spelling)
    #expect(
      throws: InvocationError.encoding(
        TypeEncodingError(reason: reason, offset: offset, encoding: spelling))
    ) {
      try CallPlan.shared(for: signature)
    }
  }

  @Test(
    "values and stacks above the limits are refused",
    arguments: [
      ("v@:{Big=[102400q]}", 0), ("{Big=[102400q]}@:", 0), ("v{B=[60000c]}{B=[60000c]}", 0),
      ("v", 100),
    ])
  func tooLarge(start: String, more: Int) throws {
    let spelling = start + String(repeating: "{B=[1000c]}", count: more)
    let signature = try MethodSignature(parsing: spelling)
    #expect(throws: InvocationError.tooLarge(signature)) { try CallPlan.shared(for: signature) }
  }

  @Test("an alignment above 16 is refused")
  func overaligned() throws {
    var layouts = StructureLayouts()
    layouts["w"] = .init(size: 64, alignment: 32, fieldOffsets: [0])
    let signature = try MethodSignature(parsing: "vi{w=i}", layouts: layouts)
    #expect(throws: InvocationError.unsupportedValue(index: 2, signature: signature)) {
      try CallPlan.shared(for: signature)
    }
  }

  @Test("a packed structure is passed as in C: on x86-64 in memory, on AArch64 in two registers")
  func packed() throws {
    try #require(CallPlan.hasDirectEngine)
    var layouts = StructureLayouts()
    layouts["p"] = .init(size: 13, alignment: 1, fieldOffsets: [0, 1, 9])
    let signature = try MethodSignature(parsing: "i{p=cdi}d", layouts: layouts)
    #expect(
      try CallPlan.shared(for: signature).location(ofArgument: 0).text
        == TestMachine.value(x86_64: "stack+0", aarch64: "x0:x1"))
    let library = try CompiledLibrary(
      CCompiler.system().library(
        """
        struct __attribute__((packed)) p { char a; double b; int c; };
        int f(struct p v, double d) { return v.a + (int)v.b + v.c + (int)d; }
        """))
    let call = try Invocation(signature)
    var bytes: [UInt8] = [1]
    bytes += withUnsafeBytes(of: 20.0) { Array($0) } + withUnsafeBytes(of: Int32(300)) { Array($0) }
    try call.setArgument(bytes: bytes, at: 0)
    try call.setArgument(4000.0, at: 1)
    try call.invoke(using: library.address("f"))
    #expect(try call.result(as: Int32.self) == 4321)
    #expect(call.invokeThroughLibffi(using: try library.address("f")))
    #expect(try call.result(as: Int32.self) == 4321)
  }

  @Test("a small structure with only a registered size is not passed by value")
  func membersUnknown() throws {
    var layouts = StructureLayouts()
    layouts["o"] = .init(size: 8, alignment: 4)
    let error = #expect(throws: InvocationError.self) {
      try CallPlan.shared(for: MethodSignature(parsing: "v{o}", layouts: layouts))
    }
    #expect(
      error == .encoding(TypeEncodingError(reason: .membersUnknown, offset: 1, encoding: "v{o}")))
    // Where it is passed in memory, whatever its members are: on AArch64 above four quads.
    layouts["o"] = .init(size: TestMachine.value(x86_64: 24, aarch64: 72), alignment: 8)
    _ = try CallPlan.shared(for: MethodSignature(parsing: "v{o}", layouts: layouts))
  }

  @Test("equal signatures of the program share a plan; strings from outside leave nothing cached")
  func cache() throws {
    let one = try CallPlan.shared(for: MethodSignature("v@:{shared=iid}"))
    #expect(try one === CallPlan.shared(for: MethodSignature("v@:{other=iid}")))
    #expect(try one === CallPlan.shared(for: MethodSignature(parsing: "v32@0:8{shared=iid}16")))
    for index in 0..<5_000 {
      let foreign = try MethodSignature(parsing: "v@:{f=[\(index + 1)c]i}")
      _ = try CallPlan.shared(for: foreign)
      _ = try Invocation(parsing: "v@:{g=[\(index + 1)c]i}")
    }
    // They would fill both. Other tests run concurrently, and use fewer literals.
    #expect(CallPlan.cacheCount < CallPlan.cacheCapacity)
  }

  @Test("threads that make and release plans of one signature never see a released one")
  func racing() {
    let text = "v@:{racing_plans=iiidci}"
    onThreads(8) { _ in
      for _ in 0..<500 {
        guard let one = try? Invocation(parsing: text), let two = try? Invocation(parsing: text)
        else { return #expect(Bool(false), "not made") }
        #expect(one.plan === two.plan)
      }
    }
  }

  @Test("plans of structures with other names are interchangeable")
  func interchangeable() throws {
    let one = try CallPlan.shared(for: MethodSignature(parsing: "v@:{a=iid}"))
    let other = try CallPlan.shared(for: MethodSignature(parsing: "v@:{b=iid}"))
    let third = try CallPlan.shared(for: MethodSignature(parsing: "v@:{a=iif}"))
    #expect(one.isInterchangeable(with: other))
    #expect(!one.isInterchangeable(with: third))
    let variadic = try CallPlan.shared(
      for: MethodSignature(parsing: "v@:{a=iid}"), fixedArgumentCount: 2)
    #expect(!one.isInterchangeable(with: variadic))
  }
}

@Suite("Cases found by random signatures")
struct FoundCaseTests {
  /// Seed 1009: an inner union is classified completely before it is merged with overlapping
  /// members. Its long double overlaps a pointer, so it is of class memory, and so is its
  /// container.
  @Test("on x86-64, an inner union of a long double and a pointer makes the outer one class memory")
  func innerUnion() throws {
    func places(_ spelling: String) throws -> CallPlaces {
      try CallPlaces(MethodSignature(utf8: Array(spelling.utf8), for: .x86_64Linux))
    }
    for spelling in ["(A=(B=^vD)t)", "(A={C=fI}(B=^vD)t)", "{S=[1(B=iD)]}", "{S=(A=(B=^vD)t)}"] {
      let found = try places("\(spelling)\(spelling)")
      #expect(found.result.text == "memory (pointer in rdi)", "\(spelling)")
      #expect(found.arguments[0].text == "stack+0", "\(spelling)")
    }
    // In a single union with both as members, the integer class wins.
    #expect(try places("(A=Dt)").result.text == "rax:rdx")
  }
}
