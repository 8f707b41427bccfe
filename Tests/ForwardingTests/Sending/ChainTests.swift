// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

@Suite("The forwarding chain")
struct ChainTests {
  /// Logs each step; a test enables the steps that it needs.
  class Stepping: MessageForwarding {
    nonisolated(unsafe) static var resolver: ((Selector, MethodTable) -> Void)?
    let log: Log
    var other: AnyObject?
    var signature: MethodSignature?
    var handler: ((Invocation) throws -> Void)?
    var knowsBetter = false

    init(_ log: Log) { self.log = log }

    class func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool { true }
    func forwardingTarget(for selector: Selector) -> AnyObject? {
      log.add("target")
      return other
    }
    func methodSignature(for selector: Selector) -> MethodSignature? {
      log.add("signature")
      return signature
    }
    func forward(_ invocation: Invocation) throws {
      log.add("forward")
      try handler?(invocation)
    }
    func unrecognizedSelector(_ selector: Selector) throws {
      log.add("unrecognized")
      if !knowsBetter {
        throw InvocationError.unrecognizedSelector(
          selector, type: SwiftType(Stepping.self), nearest: nil)
      }
    }
  }

  func ask(_ target: AnyObject, _ selector: Selector = "question") throws -> Int32 {
    let call = try Invocation(MethodSignature("i@:"), selector: selector)
    try call.invoke(on: target)
    return try call.result()
  }

  @Test("the order: resolve, target, signature, forward; unrecognized at last")
  func order() throws {
    final class Ordered: Stepping {
      static let steps = Log()
      override class func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
        steps.add("resolve")
        return true
      }
    }
    let object = Ordered(Ordered.steps)
    object.signature = try MethodSignature("i@:")
    object.handler = { try $0.setResult(Int32(5)) }
    #expect(try ask(object) == 5)
    #expect(Ordered.steps.all == ["resolve", "target", "signature", "forward"])
    Ordered.steps.clear()
    object.signature = nil
    #expect(throws: InvocationError.self) { try ask(object) }
    // The resolver returned true without adding a method, and is not called a second time.
    #expect(Ordered.steps.all == ["target", "signature", "unrecognized"])
  }

  @Test("a resolver that adds the method is asked once; the send goes straight to the method")
  func resolver() throws {
    final class Resolving: MessageForwarding {
      nonisolated(unsafe) static var asked = 0
      static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
        asked += 1
        guard selector == "late" else { return false }
        return (try? table.register(selector, MethodTableTests.answering(9))) != nil
      }
    }
    let object = Resolving()
    #expect(try ask(object, "late") == 9)
    #expect(try ask(object, "late") == 9)
    #expect(Resolving.asked == 1)
    #expect(object.responds(to: "late"))
    #expect(!object.responds(to: "never"))
    #expect(!object.responds(to: "never"))
    #expect(Resolving.asked == 2)
    // A method that is added later is found.
    try MethodTable.of(Resolving.self).register("never", MethodTableTests.answering(4))
    #expect(object.responds(to: "never"))
    #expect(try ask(object, "never") == 4)
  }

  @Test("another target gets the message unchanged; nil and self go on")
  func forwardingTarget() throws {
    let object = Stepping(Log())
    object.other = Listener("12", Log())
    #expect(try ask(object, "value") == 12)
    object.other = object
    object.signature = try MethodSignature("i@:")
    object.handler = { try $0.setResult(Int32(1)) }
    #expect(try ask(object) == 1)
    object.other = nil
    #expect(try ask(object) == 1)
  }

  @Test("in forward the target is the receiver; afterwards the sender's invocation is as it was")
  func invocationInForward() throws {
    let object = Stepping(Log())
    object.signature = try MethodSignature("i@:")
    let helper = Listener("3", Log())
    object.handler = { call in
      #expect(call.target === object)
      #expect(call.selector?.name == "question")
      // Another target and another selector of the same types.
      try call.setSelector(Selector("value"))
      try call.invoke(on: helper)
    }
    let call = try Invocation(MethodSignature("i@:"), selector: "question")
    try call.invoke(on: object)
    #expect(try call.result(as: Int32.self) == 3)
    #expect(call.target === object)
    #expect(call.selector?.name == "question")
  }

  @Test("results of every kind are returned")
  func resultKinds() throws {
    func travels<Value: CallValue & Equatable>(_ value: Value) throws {
      let object = Stepping(Log())
      object.signature = try MethodSignature(parsing: Value.typeEncoding + "@:")
      object.handler = { try $0.setResult(value) }
      let call = try Invocation(
        MethodSignature(parsing: Value.typeEncoding + "@:"), selector: "question")
      try call.invoke(on: object)
      #expect(try call.result(as: Value.self) == value)
    }
    try travels(Int8(-5)); try travels(UInt64.max); try travels(Float(0.5)); try travels(2.5)
    try travels(true); try travels(LongDouble(0.1)); try travels(Int128.min); try travels("text")
    try travels(ComplexValue<Double>(1, 2));
    try travels(ComplexValue(LongDouble(3.0), LongDouble(4.0)))
    try travels(ComplexValue<Float>(1, 2)); try travels(Selector("back"))
    try travels(UnsafeRawPointer(bitPattern: 0x40)); try travels(nil as String?)
    let object = Stepping(Log())
    for (encoding, bytes) in [("{S=qqqqq}", [1, 2, 3, 4, 5]), ("{NSRange=QQ}", [42, 999])] {
      let bytes = bytes.withUnsafeBytes { Array($0) }
      object.signature = try MethodSignature(parsing: encoding + "@:")
      object.handler = { try $0.setResult(bytes: bytes) }
      let call = try Invocation(MethodSignature(parsing: encoding + "@:"), selector: "question")
      try call.invoke(on: object)
      #expect(try call.resultBytes() == bytes)
    }
    object.signature = try MethodSignature("@@:")
    object.handler = { try $0.setResult(object) }
    let call = try Invocation(MethodSignature("@@:"), selector: "question")
    try call.invoke(on: object)
    #expect(try call.resultObject() === object)
  }

  @Test("a signature of other types is a mismatch, and the error shows both")
  func mismatch() throws {
    let object = Stepping(Log())
    object.signature = try MethodSignature("d@:")
    #expect(
      throws: InvocationError.signatureMismatch(
        name: "question", expected: signatureOf("d@:"), given: signatureOf("i@:"))
    ) { try ask(object) }
  }

  @Test("a message that is refused on its way does not return an older result")
  func staleResult() throws {
    final class Stale: Listener, @unchecked Sendable {}
    let call = try Invocation(MethodSignature("i@:"), selector: "value")
    for refuse in [
      { try call.setSelector(Selector("unheardOf")) },
      {
        try MethodTable.of(Stale.self).register("stale") { (_: Stale) in 1.5 }
        try call.setSelector(Selector("stale"))
      },
    ] as [() throws -> Void] {
      try call.setSelector(Selector("value"))
      try call.invoke(on: Stale("3", Log()))
      #expect(try call.result(as: Int32.self) == 3)
      try refuse()
      #expect(throws: InvocationError.self) { try call.invoke() }
      #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
    }
  }

  @Test("a class as the receiver is refused, and not treated as nil")
  func classReceiver() throws {
    let call = try Invocation(parsing: "v#:")
    #expect(throws: InvocationError.notAMethod(signatureOf("v#:"))) { try call.invoke() }
    #expect(throws: InvocationError.notAMethod(signatureOf("v#:"))) { try call.setTarget(nil) }
  }

  @Test("an object that suppresses the error of an unrecognized message returns zero")
  func knowsBetter() throws {
    let object = Stepping(Log())
    object.knowsBetter = true
    #expect(try ask(object) == 0)
  }

  @Test("what a handler throws inside of nested forwarding reaches the sender")
  func nested() throws {
    let outer = Stepping(Log())
    outer.signature = try MethodSignature("i@:")
    let inner = Stepping(Log())
    inner.signature = try MethodSignature("i@:")
    inner.handler = { _ in throw Failure(name: "inner") }
    outer.handler = { try $0.invoke(on: inner) }
    #expect(throws: Failure(name: "inner")) { try ask(outer) }
  }

  @Test("an object that forwards to itself, or to one that forwards back, is an error")
  func cycles() throws {
    let one = Stepping(Log())
    let other = Stepping(Log())
    (one.signature, other.signature) = (try MethodSignature("i@:"), try MethodSignature("i@:"))
    one.handler = { try $0.invoke(on: other) }
    other.handler = { try $0.invoke(on: one) }
    let cycle = InvocationError.forwardingCycle("question", type: SwiftType(Stepping.self))
    #expect(throws: cycle) { try ask(one) }
    one.handler = { try $0.invoke(on: one) }
    #expect(throws: cycle) { try ask(one) }
  }
}
