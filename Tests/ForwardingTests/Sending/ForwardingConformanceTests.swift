// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing
import TypeEncodings

@Suite("Conformance: forwarding (areas FWD, PROXY, RT, WEAK and MULTI)")
struct ForwardingConformanceTests {
  @Test("every row of the table is checked, or has the reason that it does not apply")
  func complete() throws {
    #expect(try Self.table.rows().count == 51)
    #expect(try Self.table.unmatched() == [])
  }

  @Test("a case on which other libraries agree holds here", arguments: table.answers.keys.sorted())
  func row(id: String) throws { try Self.table.run(id) }

  // MARK: Checks

  /// A forwarder with a handler of the test.
  final class Forwarder: MessageForwarding {
    let signature: MethodSignature?
    let handler: (Invocation) throws -> Void
    var other: AnyObject?

    init(_ encoding: String?, _ handler: @escaping (Invocation) throws -> Void = { _ in }) throws {
      signature = try encoding.map { try MethodSignature(parsing: $0) }
      self.handler = handler
    }

    func forwardingTarget(for selector: Selector) -> AnyObject? { other }
    func methodSignature(for selector: Selector) -> MethodSignature? { signature }
    func forward(_ invocation: Invocation) throws { try handler(invocation) }
  }

  static func call(_ encoding: String, _ selector: Selector) throws -> Invocation {
    try Invocation(MethodSignature(parsing: encoding), selector: selector)
  }

  static let table = Conformance(
    areas: ["FWD", "PROXY", "RT", "WEAK", "MULTI"],
    forwarding.merging(proxies) { $1 }.merging(runtime) { $1 }.merging(weak) { $1 }
      .merging(multicast) { $1 })

  // MARK: The rows

  private static let forwarding: [String: Conformance.Answer] = [
    "C187": .checked(in: "InvokingTests; MethodTableTests, 'a wrong declaration'"),
    "C188": .notApplicable("an unrecognized selector is a thrown error; nothing ends the process"),
    "C189": .checked(in: "ChainTests, 'the order'"),
    "C190": .checked(in: "ChainTests, 'a resolver that adds the method'"),
    "C191": .checked(in: "ChainTests, 'the order': its resolver lies"),
    "C192": .notApplicable(
      "Swift's classes are no objects on Linux, so there are no class messages"),
    "C193": .checked(in: "ChainTests, 'another target gets'; CallMatrixTests"),
    "C195": .checked(in: "ChainTests, 'results of every kind'"),
    "C196": .checked(in: "ChainTests, 'another target gets'; SmallStackTests"),
    "C197": .checked(in: "ChainTests, 'another target gets the message unchanged'"),
    "C198": .check { () throws -> Void in
      final class Real {}
      try MethodTable.of(Real.self).register("concat:and:and:") {
        (_: Real, a: String, b: String, c: String) in a + b + c
      }
      let real = Real()
      let forwarder = try Forwarder("*@:***") { call in
        try call.setSelector(Selector("concat:and:and:"))
        try call.invoke(on: real)
      }
      #expect(
        try Message<String, String, String, String>("x:y:z:")(
          "First", "Second", "Third", on: forwarder) == "FirstSecondThird")
    },
    "C199": .checked(in: "ChainTests, 'in forward the target'; CallMatrixTests"),
    "C200": .checked(in: "ChainTests, 'results of every kind'"),
    "C203": .check { () throws -> Void in
      nonisolated(unsafe) var seen: UnsafePointer<CChar>?
      let forwarder = try Forwarder("v@:*") { seen = try $0.argument(at: 2) }
      try "live".withCString { text in
        let sending = try call("v@:*", "text:")
        try sending.setArgument(text, at: 2)
        try sending.invoke(on: forwarder)
        #expect(seen == text)
      }
    },
    "C204": .checked(in: "ChainTests, 'in forward the target is the receiver'"),
    "C205": .checked(in: "ChainTests, 'results of every kind'"),
    "C206": .checked(in: "MulticastModelTests, 'a proxy behaves as its model'"),
    "C208": .checked(in: "ChainTests, 'what a handler throws inside of nested forwarding'"),
    "C209": .check { () throws -> Void in
      let forwarder = try Forwarder("i@:")
      #expect(!Introspection.responds(forwarder, to: Selector("anything")))
    },
  ]

  private static let proxies: [String: Conformance.Answer] = [
    "C213": .checked(in: "ProxyTests, 'a proxy looks like its target'"),
    "C214": .checked(in: "ProxyTests, 'a proxy looks like its target'"),
    "C215": .checked(
      in: "ProxyTests, 'a proxy looks like its target': conformance is the target's"),
    "C216": .checked(in: "ProxyTests, 'a proxy looks like its target'"),
    "C217": .checked(in: "ProxyTests, 'a proxy looks like its target'"),
    "C218": .check { () throws -> Void in
      #expect(throws: InvocationError.self) {
        try Message<NoResult>("isKindOfClass")(on: ForwardingProxy())
      }
    },
    "C219": .checked(in: "ProxyTests, 'a proxy looks like its target'"),
    "C220": .notApplicable(
      "a Swift class inherits its initializers; a bare proxy stands for nothing"),
  ]

  private static let runtime: [String: Conformance.Answer] = [
    "C221": .checked(in: "MethodTableTests, 'a selector that the class itself has is refused'"),
    "C224": .checked(in: "MethodTableTests, 'exchange'"),
    "C225": .check { () throws -> Void in
      let signature = try MethodSignature(parsing: "@28@0:8i16@?20")
      #expect(signature.argumentTypes.map { "\($0)" } == ["@", ":", "i", "@?"])
      for index in [4, -1] {
        #expect(throws: SignatureIndexError.self) { try signature.argumentType(at: index) }
      }
    },
    "C226": .notApplicable("types are values here; there is no buffer to fill"),
    "C227": .notApplicable("types are values here; there is no buffer to fill"),
    "C228": .check { () throws -> Void in
      let selector = Selector("anything")
      #expect(!Introspection.responds(nil, to: selector))
      #expect(Introspection.signature(of: nil, for: selector) == nil)
      #expect(try !Introspection.conforms(nil, to: ProtocolDescription("P")))
    },
    "C230": .check { () throws -> Void in
      let described = try ProtocolDescription("D", required: ["a": "v@:"], optional: ["b": "v@:"])
      #expect(described.requirement(for: "a")?.isRequired == true)
      #expect(described.requirement(for: "b")?.isRequired == false)
      #expect(described.requirement(for: "c") == nil)
    },
    "C232": .check { () throws -> Void in
      final class T {}
      // The closure receives the receiver and the arguments, and no selector.
      let method = try Implementation { (_: T, value: Int32) -> Int32 in value + 1 }
      try MethodTable.of(T.self).register("next:", method)
      #expect(MethodTable.of(T.self).own(Selector("next:")) === method)
      #expect(try Message<Int32, Int32>("next:")(1, on: T()) == 2)
      #expect(MethodTable.of(T.self).remove(Selector("next:")) === method)
      #expect(MethodTable.of(T.self).own(Selector("next:")) == nil)
    },
  ]

  private static let weak: [String: Conformance.Answer] = [
    "C233": .checked(in: "MulticastModelTests, 'a proxy behaves as its model'"),
    "C234": .checked(in: "MulticastModelTests, 'a proxy behaves as its model'"),
    "C235": .checked(in: "MulticastModelTests, 'a proxy behaves as its model'"),
    "C236": .notApplicable("registrations are not slots: their number is not set"),
    "C237": .notApplicable("registrations are named by tokens, not by index"),
  ]

  private static let multicast: [String: Conformance.Answer] = [
    "C239": .checked(in: "MulticastModelTests, 'a proxy behaves as its model'"),
    "C240": .checked(in: "MulticastModelTests, 'a proxy behaves as its model'"),
    "C241": .notApplicable("a target is a class instance; a struct does not compile"),
    "C242": .checked(in: "MulticastModelTests, 'so does a proxy of many targets'"),
    "C244": .checked(in: "MulticastModelTests, 'a proxy behaves as its model'"),
    "C246": .notApplicable("neither a target nor a queue can be nil"),
    "C247": .checked(in: "MulticastModelTests, 'a proxy behaves as its model'"),
    "C248": .checked(in: "MulticastModelTests; DeliveryRulesTests"),
    "C249": .checked(in: "MulticastModelTests, 'a proxy behaves as its model'"),
    "C251": .checked(in: "SenderTests, 'a proxy answers'"),
    "C252": .checked(in: "MulticastModelTests, 'a proxy behaves as its model'"),
  ]
}

extension FixturePoint: CallStructure {
  public static var structure: VouchedStructure<Self> { VouchedStructure("{FixturePoint=dd}") }
}

extension FixtureRectangle: CallStructure {
  public static var structure: VouchedStructure<Self> {
    VouchedStructure("{FixtureRectangle={FixturePoint=dd}{FixturePoint=dd}}")
  }
}
