// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

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

/// What an error or a diagnostic says.
private struct Sentence: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let said: @Sendable () throws -> String

  init(_ sentence: String, of error: any Error) {
    (testDescription, said) = (sentence, { "\(error)" })
  }

  /// The error that a body throws.
  init(_ sentence: String, throwing body: @escaping @Sendable () throws -> Void) {
    testDescription = sentence
    said = {
      do { try body() } catch { return "\(error)" }
      return "nothing was refused"
    }
  }
}

private func set(_ encoding: String, _ value: some CallValue) throws {
  try Invocation(parsing: "v\(encoding)").setArgument(value, at: 0)
}

private final class Taking {}
private enum Other { final class Listener {} }

/// Two things differ, and the error must not print the same text for both.
private let differences = [
  Sentence(
    "argument 0 is a structure ({R=^v}), not HoldsObject ({R=^v}): HoldsObject cannot be copied "
      + "byte by byte, because it holds an object",
    throwing: { try set("{R=^v}", HoldsObject()) }),
  Sentence(
    "argument 0 is a structure ({L=q}), not TooLarge ({L=q}): TooLarge takes 16 bytes, but its "
      + "encoding 8", throwing: { try set("{L=q}", TooLarge()) }),
  Sentence(
    "argument 0 is a structure ({A=q}), not Misaligned ({A=q}): Misaligned is aligned to 4 bytes, "
      + "but its encoding to 8", throwing: { try set("{A=q}", Misaligned()) }),
  Sentence(
    "argument 0 is a structure ({B=d}), not TooLarge ({L=q})",
    throwing: { try set("{B=d}", TooLarge()) }),
  Sentence(
    "the result is a structure ({R=^v}), not HoldsObject ({R=^v}): HoldsObject cannot be copied "
      + "byte by byte, because it holds an object",
    throwing: { _ = try Implementation { (_: Log) in HoldsObject() } }),
  Sentence(
    "the result of 'take:a:' is registered as a type of C, but was called as the Swift type Point",
    throwing: {
      let message = try Message<Point, [Int], Point>("take:a:")
      let spelled = try MethodSignature(parsing: message.signature.description)
      try MethodTable.of(Taking.self).register("take:a:", Implementation(spelled) { _ in })
      _ = try message([], Point(), on: Taking())
    }),
  Sentence(
    "'-[Account take:]' is registered as (Int32, ^v) -> Bool (B@:i^v), but was called as (String) "
      + "-> Void (v@:*)",
    of: InvocationError.signatureMismatch(
      name: "-[Account take:]", expected: signatureOf("B@:i^v"), given: signatureOf("v@:*"))),
  Sentence(
    "Listener has no method 'dod:'; did you mean 'did:'?",
    throwing: {
      let untyped = InterceptingProxy(Listener("1", Log()))
      try Message<NoResult, Int32>("dod:")(1, on: untyped)
    }),
]

private let upload = Requirement<Void, Int, Int>("chat:uploadLate:", name: "chat(_:uploadLate:)")
  .selector
private let plain = ForwardingError.Context(selector: upload, target: Listener.self)
private let queued = ForwardingError.Context(selector: upload, target: Listener.self, queue: "db")
private let late = "'chat(_:uploadLate:)' of Listener"
private let lateOnQueue = "\(late) on queue 'db'"

/// An error about one target names the requirement, the target and its queue.
private let contexts: [(String, ForwardingError)] = [
  ("\(late) did not finish in time", .timedOut(plain)),
  ("\(lateOnQueue) did not finish in time", .timedOut(queued)),
  (
    "the wait for \(lateOnQueue) would never end, because its queue or actor is waiting for this "
      + "call", .wouldDeadlock(queued)
  ),
  (
    "the wait for the messages of Listener would never end, because its queue or actor is waiting "
      + "for this call", .wouldDeadlock(.init(selector: nil, target: Listener.self))
  ),
  ("\(lateOnQueue) was not called: its queue was deallocated first", .cancelled(queued)),
  (
    "\(late) belongs to an actor, but was sent from elsewhere; add the target with its actor, as in "
      + "'on: .mainActor'", .wrongIsolation(plain, .lane)
  ),
  (
    "argument 2 of \(lateOnQueue) is a pointer (^v), whose memory may be gone when the target is "
      + "called; pass a value or an object",
    .borrowedArgument(queued, index: 2, type: encodingOf("^v"))
  ),
  (
    "argument 0 of the message is String (*), whose memory may be gone when the target is called; "
      + "pass a value or an object",
    .borrowedArgument(.init(selector: nil, target: nil), index: 0, type: encodingOf("*"))
  ),
  (
    "the result of \(late) is Int32 (i), and the sender does not wait for it; await the message, or "
      + "add the target with 'on: .blocking'", .resultNotAwaited(plain, encodingOf("i"))
  ),
  (
    "\(lateOnQueue) cannot be a message, because a closure is not '@escaping'; add the target "
      + "itself, without a queue, or, for calls that are not awaited, with one that blocks without a "
      + "deadline",
    .notAMessage(queued, because: "a closure is not '@escaping'")
  ),
]

@Suite("What errors say")
struct RefusalTextTests {
  @Test(
    "an error says what, where, expected and given",
    arguments: differences + contexts.map { Sentence($0, of: $1) })
  fileprivate func says(_ sentence: Sentence) throws {
    #expect(try sentence.said() == sentence.testDescription)
  }

  @Test("two types of one name are refused with their full names")
  func sameNames() {
    let mismatch = InvocationError.swiftTypeMismatch(
      name: "take:", index: 2, expected: SwiftType(Listener.self),
      given: SwiftType(Other.Listener.self))
    #expect("\(mismatch)".contains("Tests.Listener"))
    #expect("\(mismatch)".contains(".Other.Listener"))
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

  @Test("a diagnostic is a sentence, with the requirement and the registration")
  func diagnostics() {
    let token = MulticastProxy().add(Listener("1", Log()))
    let failure = Failure(name: "full")
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
