// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing
import TypeEncodings

@testable import Invocations

@Suite("Method tables")
struct MethodTableTests {
  static func answering(_ value: Int32) throws -> Implementation {
    try Implementation { (_: AnyObject) -> Int32 in value }
  }

  static func ask(_ object: AnyObject, _ selector: Selector) throws -> Int32 {
    let call = try Invocation(MethodSignature("i@:"), selector: selector)
    try call.invoke(on: object)
    return try call.result()
  }

  @Test(
    "a selector that the class itself has is refused; one that only a superclass has is accepted")
  func taken() throws {
    class A {}
    class B: A {}
    let name: Selector = "added"
    try MethodTable.of(A.self).register(name, Self.answering(1))
    #expect(throws: InvocationError.duplicateName("-[A added]")) {
      try MethodTable.of(A.self).register(name, Self.answering(2))
    }
    #expect(try Self.ask(B(), "added") == 1)
    try MethodTable.of(B.self).register(name, Self.answering(3))
    #expect(try Self.ask(B(), "added") == 3)
    #expect(try Self.ask(A(), "added") == 1)
  }

  @Test("replace returns the class's own old method, or nil if only a superclass had one")
  func replace() throws {
    class A {}
    class B: A {}
    let name = Selector("replaced")
    let (one, two, three) = (try Self.answering(1), try Self.answering(2), try Self.answering(3))
    #expect(MethodTable.of(A.self).replace(name, one) == nil)
    #expect(MethodTable.of(A.self).replace(name, two) === one)
    #expect(MethodTable.of(B.self).replace(name, three) == nil)
    #expect(MethodTable.of(B.self).replace(name, one) === three)
    #expect(try Self.ask(B(), "replaced") == 1)
    #expect(MethodTable.of(B.self).remove(name) === one)
    #expect(try Self.ask(B(), "replaced") == 2)
    #expect(MethodTable.of(B.self).remove(name) == nil)
  }

  @Test(
    "exchange swaps, twice restores; a missing method changes nothing; inherited methods are swapped in their class"
  )
  func exchange() throws {
    class A {}
    class B: A {}
    let (a, b) = (Selector("swapA"), Selector("swapB"))
    try MethodTable.of(A.self).register(a, Self.answering(1))
    try MethodTable.of(B.self).register(b, Self.answering(2))
    #expect(MethodTable.of(B.self).exchange(a, b))
    #expect(try Self.ask(B(), "swapA") == 2)
    #expect(try Self.ask(A(), "swapA") == 2)
    #expect(MethodTable.of(B.self).exchange(a, b))
    #expect(try Self.ask(B(), "swapA") == 1)
    #expect(try Self.ask(B(), "swapB") == 2)
    #expect(!MethodTable.of(B.self).exchange(a, Selector("missing")))
  }

  @Test("a class declares its methods once; subclasses inherit, override, and reach super")
  func declaring() throws {
    class Loud: Listener, @unchecked Sendable {
      override class func declareMethods(_ methods: MethodDeclarations) {
        super.declareMethods(methods)
        methods.register("value") { (self: Loud) throws -> Int32 in
          let call = try Messages.value.invocation()
          try call.setTarget(self)
          try call.invokeSuper(of: Loud.self)
          return try call.result(as: Int32.self) * 100
        }
      }
    }
    class Quiet: Listener, @unchecked Sendable {}
    #expect(try Messages.value(on: Loud("7", Log())) == 700)
    #expect(try Messages.value(on: Quiet("7", Log())) == 7)
    #expect(MethodTable.of(Quiet.self).selectors.isEmpty)
    #expect(MethodTable.of(Loud.self).selectors.map(\.name) == ["value"])
    #expect(MethodTable.of(Loud.self).method(for: "did:") != nil)
  }

  @Test("a method that takes objects of another class is refused at registration")
  func wrongReceiver() throws {
    class Above {}
    class Here: Above {}
    class Below: Here {}
    class Elsewhere {}
    let table = MethodTable.of(Here.self)
    func refusal(_ taken: AnyClass) -> InvocationError {
      .wrongReceiver("go", type: SwiftType(Here.self), takes: SwiftType(taken))
    }
    #expect(throws: refusal(Below.self)) { try table.register("go") { (_: Below) in } }
    #expect(throws: refusal(Elsewhere.self)) { try table.register("go") { (_: Elsewhere) in } }
    #expect(table.selectors.isEmpty)
    try table.register("here") { (_: Here) in }
    try table.register("above") { (_: Above) in }
    try table.register("any") { (_: AnyObject) in }
    #expect(table.selectors.map(\.name) == ["above", "any", "here"])
  }

  class Wrong: MethodDeclaring {
    class func declareMethods(_ methods: MethodDeclarations) {
      methods.register("noColon") { (_: Wrong, _: Int32) in }
      methods.register("rightly:") { (_: Wrong, _: Int32) in }
    }
  }
  class BelowWrong: Wrong {}

  @Test(
    "a wrong declaration is recorded, and is the reason of a send's error",
    arguments: [false, true])
  func wrongDeclaration(_ isBelow: Bool) throws {
    let target = isBelow ? BelowWrong() : Wrong()
    let error = #expect(throws: InvocationError.self) {
      try Message<NoResult, Int32>("noColon:")(1, on: target)
    }
    #expect(
      "\(try #require(error))"
        == "-[\(type(of: target)) noColon:] is not there, because 'noColon' is "
        + "declared wrongly: the selector 'noColon' has 0 colons, but its method takes 1 argument; "
        + "write one colon for each argument, as in 'noColon:'")
    guard case .wrongDeclaration(_, _, let declared) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(declared.selector == "noColon" && declared.type == SwiftType(Wrong.self))
    #expect(MethodTable.declarationErrors.contains(declared))
    #expect("\(declared)".hasPrefix("-[Wrong noColon] is declared wrongly"))
    #expect(
      throws: InvocationError.unrecognizedSelector(
        "rightl:", type: SwiftType(type(of: target)), nearest: "rightly:")
    ) {
      try Message<NoResult, Int32>("rightl:")(1, on: target)
    }
  }

  @Test("protocols: a subclass conforms, and optional messages have a signature")
  func protocols() throws {
    class A {}
    class B: A {}
    let child = try ProtocolDescription(
      "Child", required: ["needed:": "v@:i"], optional: ["extra:": "i@:d"])
    MethodTable.of(A.self).adopt(child)
    #expect(MethodTable.of(B.self).conforms(to: child))
    #expect(try !MethodTable.of(B.self).conforms(to: ProtocolDescription("Other")))
    #expect(Introspection.conforms(B(), to: child))
    #expect(!Introspection.conforms(nil, to: child))
    let extra = Selector("extra:")
    #expect(MethodTable.of(B.self).signature(for: extra)?.description == "i@:d")
    #expect(!Introspection.responds(B(), to: extra))
    #expect(throws: InvocationError.self) {
      try ProtocolDescription("Bad", required: ["a:": "v@:"])
    }
  }

  @Test("while methods change, each answer to 8 threads is from a registered method")
  func threads() throws {
    final class T: Sendable {}
    try MethodTable.of(T.self).register("racing", Self.answering(0))
    let wrong = Atomic(0)
    onThreads(8) { thread in
      let target = T()
      for round in 0..<500 {
        do {
          if thread == 0 {
            try MethodTable.of(T.self).register(
              "racing", replacing: true, Self.answering(Int32(round)))
          }
          let answer = try Self.ask(target, "racing")
          if !(0..<500).contains(answer) { wrong.add(1, ordering: .relaxed) }
        } catch {
          wrong.add(1, ordering: .relaxed)
        }
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
  }

  @Test(
    "a class that leaves a requirement out gets no method for it from a thread that began before")
  func leftOut() throws {
    final class Door {}
    let (table, name) = (MethodTable.of(Door.self), "rest" as Selector)
    let method = try Self.answering(1).markedAsOfProxy(isOptional: true)
    table.declare([(name, method)])
    #expect(throws: NotImplemented.self) {
      let door = Door()
      try OptionalRequirement.run(name, of: door) { OptionalRequirement.leaveOut(door, name) }
    }
    // Two threads may find it at once.
    table.leaveOut(name)
    table.declare([(name, method)])
    #expect(table.own(name) == nil)
    let other = try Implementation { (_: AnyObject) -> String in "other" }.markedAsOfProxy(
      isOptional: true)
    table.declare([(name, other)])
    #expect(table.own(name) != nil)
  }

  @Test("methods that a proxy adds leave the witness tables of the class, and other methods do not")
  func preparedTwice() throws {
    final class Door: Opening {}
    final class Proxy {}
    let (table, name) = (MethodTable.of(Door.self), "opens" as Selector)
    let part = try #require(WitnessRecords.Part(Door() as any Opening))
    // Of two threads that prepare a class, the second may get here before the first one is done.
    WitnessRecords.add(Door.self, Proxy.self, part, isIsolated: false, bases: [])
    table.declare([(name, try Self.answering(1).markedAsOfProxy(isOptional: false))])
    WitnessRecords.note([name], of: Proxy.self, for: Door.self)
    let witnesses = try #require(WitnessRecords.witnesses(of: Door.self, for: Proxy.self))
    #expect(witnesses.table(at: 0) != 0)
    table.replace(name, try Self.answering(2))
    #expect(witnesses.table(at: 0) == 0)
  }
}

private protocol Opening: AnyObject {}
