// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
import TypeEncodings

import Forwarding
import Invocations

private struct HoldsObject: CallStructure, @unchecked Sendable {
  var object: Log?
  static var structure: VouchedStructure<Self> { VouchedStructure("{R=^v}") }
}

private struct TooLarge: CallStructure {
  var a = 0
  var b = 0
  static var structure: VouchedStructure<Self> { VouchedStructure("{L=q}") }
}

private struct Misaligned: CallStructure {
  var a: (UInt32, UInt32) = (0, 0)
  static var structure: VouchedStructure<Self> { VouchedStructure("{A=q}") }
}

private struct Point: Equatable, Sendable { var x = 0.0 }

/// Two things differ, and the error must not print the same text for both.
@Suite("Errors about differences name both sides")
struct RefusalTextTests {
  private static func text(_ body: () throws -> Void) -> String {
    do { try body() } catch { return "\(error)" }
    return "nothing was refused"
  }

  @Test("a structure that does not fit its own encoding is refused with the reason")
  func structures() throws {
    func set(_ encoding: String, _ value: some CallValue) -> String {
      Self.text { try Invocation(parsing: "v\(encoding)").setArgument(value, at: 0) }
    }
    #expect(
      set("{R=^v}", HoldsObject())
        == "argument 0 is a structure ({R=^v}), not HoldsObject ({R=^v}): HoldsObject cannot be "
        + "copied byte by byte, because it holds an object")
    #expect(
      set("{L=q}", TooLarge())
        == "argument 0 is a structure ({L=q}), not TooLarge ({L=q}): TooLarge takes 16 bytes, but "
        + "its encoding 8")
    #expect(
      set("{A=q}", Misaligned())
        == "argument 0 is a structure ({A=q}), not Misaligned ({A=q}): Misaligned is aligned to 4 "
        + "bytes, but its encoding to 8")
    #expect(
      set("{B=d}", TooLarge())
        == "argument 0 is a structure ({B=d}), not TooLarge ({L=q})")
    #expect(
      Self.text { _ = try Implementation { (_: Log) in HoldsObject() } }
        == "the result is a structure ({R=^v}), not HoldsObject ({R=^v}): HoldsObject cannot "
        + "be copied byte by byte, because it holds an object")
  }

  @Test("a method of the same encoding and another Swift type is refused with both types")
  func swiftTypes() throws {
    let message = try Message<Point, [Int], Point>("take:a:")
    let spelled = try MethodSignature(parsing: message.signature.description)
    final class Taking {}
    try MethodTable.of(Taking.self).register("take:a:", Implementation(spelled) { _ in })
    #expect(
      Self.text { _ = try message([], Point(), on: Taking()) }
        == "the result of 'take:a:' is registered as a type of C, but was called as the Swift type Point"
    )
  }

  @Test("signatures that differ are shown as Swift types, with their encodings")
  func signatures() throws {
    let mismatch = InvocationError.signatureMismatch(
      name: "-[Account take:]", expected: try MethodSignature(parsing: "B@:i^v"),
      given: try MethodSignature(parsing: "v@:*"))
    #expect(
      "\(mismatch)"
        == "'-[Account take:]' is registered as (Int32, ^v) -> Bool (B@:i^v), but was called as "
        + "(String) -> Void (v@:*)")
  }

  private enum Other { final class Listener {} }

  @Test("two types of one name are refused with their full names")
  func sameNames() {
    let mismatch = InvocationError.swiftTypeMismatch(
      name: "take:", index: 2, expected: SwiftType(Listener.self),
      given: SwiftType(Other.Listener.self))
    #expect("\(mismatch)".contains("Tests.Listener"))
    #expect("\(mismatch)".contains(".Other.Listener"))
  }

  @Test(
    "an unknown name on an intercepting proxy is refused with the class of its target and a suggestion"
  )
  func intercepted() throws {
    let untyped = InterceptingProxy(Listener("1", Log()))
    #expect(
      Self.text { try Message<NoResult, Int32>("dod:")(1, on: untyped) }
        == "Listener has no method 'dod:'; did you mean 'did:'?")
  }

  @Test("an error behind a proxy that cannot throw names the target")
  func unheard() async {
    await #expect(processExitsWith: .success) {
      final class Closed: ForwardingProxy, @unchecked Sendable {
        override func signature(for invocation: Invocation) -> MethodSignature? {
          invocation.methodSignature
        }
        override func forward(_ invocation: Invocation) throws { throw Failure(name: "closed") }
      }
      let told = Log()
      ForwardingEvent.destination = .handler { told.add("\($0)") }
      let untyped = Closed()
      let open = Requirement<Void, Int>("open:")
      let forwarder = _ProxyForwarder(untyped, for: Closed.self)
      forwarder.deliver(
        ProxySite<Void>(0), open.selector, { (_: borrowing ProxyTarget<any Sendable>) in },
        { delivery in try _ProxyMessage.send(open, 5, through: &delivery) }
      ).get(forwarder, open.selector, otherwise: {})
      let line =
        "'open:' of Closed ended with an error that its sender does not get: \(Failure(name: "closed"))"
      require(told.all == [line], "\(told.all)")
    }
  }

  @Test("that no target answers names the protocol, if it alone has the requirement")
  func owners() {
    let error = ForwardingError.nobodyAnswered("chatOf:accept:")
    #expect("\(error)" == "no target answered 'chatOf:accept:'")
    _ = Requirement<Void, Int, Int>("chatOf:accept:", name: "Outer.Chats.chat(of:accept:)")
    #expect("\(error)" == "no target answered 'chat(of:accept:)' of Outer.Chats")
    #expect("\(DeliveryDiagnostic.unanswered("chatOf:accept:"))" == "\(error)")
    #expect(
      "\(ForwardingError.targetGone("chatOf:accept:"))"
        == "the target of 'chat(of:accept:)' is gone; keep it for as long as it is to be called")
    _ = Requirement<Void, Int, Int>("chatOf:accept:", name: "Rooms.chat(of:accept:)")
    #expect("\(error)" == "no target answered 'chat(of:accept:)'")
    _ = Requirement<Void, Int, Int>("chatOf:accept:", name: "Outer.Chats.chat(of:accept:)")
    #expect("\(error)" == "no target answered 'chat(of:accept:)'")
    #expect("\(ForwardingError.nobodyAnswered(nil))" == "no target answered the message")
  }

  @Test("errors name a requirement as its protocol writes it, if all protocols write it so")
  func requirementNames() {
    _ = Requirement<Void, Int, Int>("chatOf:refuse:", name: "chat(of:refuse:)")
    let error = ForwardingError.nobodyAnswered("chatOf:refuse:")
    #expect("\(error)" == "no target answered 'chat(of:refuse:)'")
    _ = Requirement<Void, Int, Int>("chatOf:refuse:", name: "chatOf(_:refuse:)")
    #expect("\(error)" == "no target answered 'chatOf:refuse:'")
    #expect("\(ForwardingError.targetGone("plain"))".hasPrefix("the target of 'plain' is gone; "))
  }

  private static let upload = Requirement<Void, Int, Int>(
    "chat:uploadLate:", name: "chat(_:uploadLate:)"
  ).selector

  @Test("an error about one target names the requirement, the target and its queue")
  func contexts() {
    func check(_ error: ForwardingError, _ sentence: String) { #expect("\(error)" == sentence) }
    let plain = ForwardingError.Context(selector: Self.upload, target: Listener.self)
    let queued = ForwardingError.Context(
      selector: Self.upload, target: Listener.self, queue: "db")
    let target = ForwardingError.Context(selector: nil, target: Listener.self)
    let unknown = ForwardingError.Context(selector: nil, target: nil)
    check(.timedOut(plain), "'chat(_:uploadLate:)' of Listener did not finish in time")
    check(
      .timedOut(queued), "'chat(_:uploadLate:)' of Listener on queue 'db' did not finish in time")
    check(
      .wouldDeadlock(queued),
      "the wait for 'chat(_:uploadLate:)' of Listener on queue 'db' would never end, because its "
        + "queue or actor is waiting for this call")
    check(
      .wouldDeadlock(target),
      "the wait for the messages of Listener would never end, because its queue or actor is "
        + "waiting for this call")
    check(
      .cancelled(queued),
      "'chat(_:uploadLate:)' of Listener on queue 'db' was not called: its queue was deallocated first"
    )
    check(
      .wrongIsolation(plain, .lane),
      "'chat(_:uploadLate:)' of Listener belongs to an actor, but was sent from elsewhere; add the "
        + "target with its actor, as in 'on: .mainActor'")
    check(
      .borrowedArgument(queued, index: 2, type: encodingOf("^v")),
      "argument 2 of 'chat(_:uploadLate:)' of Listener on queue 'db' is a pointer (^v), whose memory may "
        + "be gone when the target is called; pass a value or an object")
    check(
      .borrowedArgument(unknown, index: 0, type: encodingOf("*")),
      "argument 0 of the message is String (*), whose memory may be gone when the target is called; "
        + "pass a value or an object")
    check(
      .resultNotAwaited(plain, encodingOf("i")),
      "the result of 'chat(_:uploadLate:)' of Listener is Int32 (i), and the sender does not wait for it; "
        + "await the message, or add the target with 'on: .blocking'")
    check(
      .notAMessage(queued, because: "a closure is not '@escaping'"),
      "'chat(_:uploadLate:)' of Listener on queue 'db' cannot be a message, because a closure is not "
        + "'@escaping'; add the target itself, without a queue, or with one that blocks without a "
        + "deadline")
  }

  @Test("a diagnostic is a sentence, with the requirement and the registration")
  func diagnostics() {
    let token = MulticastProxy().add(Listener("1", Log()))
    let (upload, failure) = (Self.upload, Failure(name: "full"))
    let rows: [(DeliveryDiagnostic, String)] = [
      (.deadTarget(token), "\(token) has died, and was removed"),
      (
        .diedUnreached(token, token.type),
        "\(token) died before its first message; keep it, or add it strongly"
      ),
      (.unanswered(upload), "no target answered 'chat(_:uploadLate:)'"),
      (
        .failed(token, upload, failure),
        "'chat(_:uploadLate:)' of \(token) ended with an error that its sender does not get: \(failure)"
      ),
      (
        .overruled(token, upload),
        "the answer of \(token) to 'chat(_:uploadLate:)' is discarded: a later target answered too"
      ),
      (
        .tooLate(token, upload),
        "the answer of \(token) to 'chat(_:uploadLate:)' is discarded, because the sender does not wait for its queue; "
          + "add it with '.blocking', or make the requirement 'async'"
      ),
      (
        .unheard(upload, failure),
        "'chat(_:uploadLate:)' ended with an error that its sender does not get: \(failure)"
      ),
    ]
    #expect("\(token)".hasPrefix("Listener #"))
    for (diagnostic, sentence) in rows { #expect("\(diagnostic)" == sentence) }
  }
}
