// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Invocations
import Testing
import TypeEncodings

@Suite("Conformance: the ABI and invocations (areas ABI and INV)")
struct InvocationConformanceTests {
  @Test("every row of the table is checked, or has the reason that it does not apply")
  func complete() throws {
    #expect(try Self.table.rows().count == 50)
    #expect(try Self.table.unmatched() == [])
  }

  @Test("a case on which other libraries agree holds here", arguments: table.answers.keys.sorted())
  func row(id: String) throws { try Self.table.run(id) }

  // MARK: Checks

  /// Whether x86-64 returns types through a hidden pointer. The rows are about that machine.
  static func stret(_ results: String..., expected: Bool) -> Conformance.Answer {
    .check { () throws -> Void in
      for result in results {
        let bytes = Array((result + "@:").utf8)
        let places = try CallPlaces(MethodSignature(utf8: bytes, for: .x86_64Linux))
        #expect((places.result.text == "memory (pointer in rdi)") == expected, "\(result)")
      }
    }
  }

  // MARK: The rows

  static let table = Conformance(areas: ["ABI", "INV"], abi.merging(invocations) { $1 })

  private static let abi: [String: Conformance.Answer] = [
    "C123": stret("{NSRect={NSPoint=dd}{NSSize=dd}}", expected: true),
    "C124": stret("{NSPoint=dd}", expected: false), "C125": stret("{NSRange=QQ}", expected: false),
    "C126": stret("{foo=ffff}", expected: false), "C127": stret("{foo=fffff}", expected: true),
    "C128": stret("{foo=t}", expected: false), "C130": stret("t", expected: false),
    "C131": stret("D", expected: false), "C132": stret("{nlist_64=(?=I)CCSQ}", expected: false),
    "C133": stret("{foo=D}", expected: false),
    "C134": stret("{CATransform3D=ffffffffffffffff}", expected: true),
    "C135": stret("(un=cD)", "(un=Di)", expected: true),
  ]

  private static let invocations: [String: Conformance.Answer] = [
    "C137": .checked(in: "InvocationTests, 'a new invocation has no target'"),
    "C139": index, "C140": index,
    "C141": .checked(in: "InvocationTests, 'indices are those of NSInvocation'"),
    "C143": .checked(in: "InvocationTests, 'a new invocation has no target'"),
    "C144": .check { () throws -> Void in
      let call = try Invocation(parsing: "v@:")
      try call.setTarget(Subject())
      #expect(throws: InvocationError.selectorNotSet) { try call.invoke() }
    },
    "C145": .checked(in: "InvokingTests, 'a nil target is not called'"),
    "C147": .check { () throws -> Void in
      final class T {}
      try MethodTable.of(T.self).register("go") { (_: T) in }
      let call = try Invocation(MethodSignature("v@:"), selector: "go")
      let other = T()
      try call.setTarget(T())
      try call.invoke(on: other)
      #expect(call.target === other)
    },
    "C148": .check { () throws -> Void in
      final class N {
        var calls = 0
        let value: Int32
        init(_ value: Int32) { self.value = value }
      }
      try MethodTable.of(N.self).register("value") { (n: N) -> Int32 in
        n.calls += 1
        return n.value
      }
      let call = try Invocation(MethodSignature("i@:"), selector: "value")
      let targets = [N(1), N(2), N(3)]
      for target in targets { try call.invoke(on: target) }
      #expect(try call.result(as: Int32.self) == 3)
      #expect(targets.allSatisfy { $0.calls == 1 })
    },
    "C149": .check { () throws -> Void in
      struct AnError: Error {}
      final class T {}
      try MethodTable.of(T.self).register("f:") { (_: T, fails: Bool) throws -> Int32 in
        if fails { throw AnError() }
        return 1
      }
      let call = try Invocation(MethodSignature("i@:B"), selector: "f:")
      try call.invoke(on: T())
      try call.setArgument(true, at: 2)
      #expect(throws: AnError.self) { try call.invoke() }
      #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
    },
    "C151": lifetime, "C152": lifetime, "C153": lifetime, "C154": lifetime, "C155": lifetime,
    "C156": lifetime, "C157": lifetime,
    "C159": .checked(in: "InvokingTests, 'narrow numbers keep their sign'; CallMatrixTests"),
    "C160": .checked(in: "FunctionTableTests, 'values of every kind'; LifetimeTests"),
    "C162": lifetime,
    "C165": exact, "C166": exact, "C167": exact, "C168": exact, "C169": exact, "C170": exact,
    "C172": exact, "C173": exact, "C174": exact, "C175": exact, "C176": exact, "C178": exact,
    "C179": exact, "C181": exact,
    "C183": archiving, "C184": archiving,
    // Apple's and GNUstep's invocations cannot be copied; those of this package can (design,
    // section 4).
    "C185": lifetime,
    "C186": .checked(in: "InvokingTests, 'a void result is never available'"),
  ]

  private static let index = Conformance.Answer.checked(
    in: "InvocationTests, 'an index out of range is refused'")

  private static let archiving = Conformance.Answer.notApplicable(
    "invocations hold addresses and are not archived; there is no NSCoding on Linux")

  /// Structures, unions, bit-fields, long doubles and narrow numbers, of random types.
  private static let exact = Conformance.Answer.checked(
    in: "CallMatrixTests, 'calls are exact through both engines'")

  private static let lifetime = Conformance.Answer.checked(in: "LifetimeTests")
}
