// SPDX-License-Identifier: Apache-2.0
/// An error of a proxy that cannot deliver a message.
///
/// ```swift
/// do {
///   try Message<NoResult>("close")(on: MulticastProxy(one: nil))
/// } catch ForwardingError.targetGone(let selector) {
///   print(selector?.name ?? "?")  // close
/// }
/// ```
@nonexhaustive
public enum ForwardingError: Error, Hashable, Sendable {
  /// The only target of a proxy has died.
  case targetGone(Selector?)
  /// No target has a method for the message, and the sender requires an answer.
  case nobodyAnswered(Selector?)
  /// A message to another thread would refer to memory that has no owner.
  case borrowedArgument(Selector?, index: Int, type: TypeEncoding)
  /// The wait would never end: it is for something that waits for this delivery itself.
  case wouldDeadlock
  /// A target did not finish in time.
  case timedOut
  /// The target's queue was deallocated before the message ran.
  case cancelled
  /// A method belongs to an actor, and its message was sent elsewhere.
  case wrongIsolation(Selector, IsolationRemedy)
  /// A message to another thread cannot return its result to a sender that does not wait.
  case resultNotAwaited(Selector?, TypeEncoding)
  /// A requirement of a protocol is called by its proxy alone, and nothing can keep the call as a message: for a
  /// target with a lane, a spy, or another process.
  case notAMessage(Selector, because: String)
  /// A requirement with a `sending` parameter was sent to a proxy that may have more than one target.
  case needsSingleTarget(Selector)
}

/// What helps where a message was sent elsewhere than on the actor of its method.
///
/// ```swift
/// let error = ForwardingError.wrongIsolation("height", .awaiting)
/// "\(error)".contains("'async'")  // true
/// ```
@nonexhaustive
public enum IsolationRemedy: Hashable, Sendable {
  /// There is no result, so the target may get it later: with the lane of the actor.
  case lane
  /// A lane gives the result to no sender that does not wait: the requirement is `async`, or the target answers it
  /// `nonisolated`.
  case awaiting
  /// The message does not go to the actor by itself, as what it carries is not `Sendable`: it is sent there.
  case sendingThere
  /// No message reaches the actor, which the runtime does not name: the target answers it `nonisolated`.
  case nonisolated
}

extension IsolationRemedy {
  /// - Parameters:
  ///   - hasResult: whether the sender wants a result.
  ///   - goesThere: whether a message that is awaited goes to the actor.
  init(hasResult: Bool, goesThere: Bool) {
    self = !hasResult ? .lane : goesThere ? .awaiting : .sendingThere
  }

  fileprivate var advice: String {
    switch self {
    case .lane:
      "add the target with the lane of the actor, as '.mainActor'"
    case .awaiting:
      "await its result, as that of an 'async' requirement, or let the target answer it "
        + "'nonisolated'"
    case .sendingThere:
      "not all that it carries is 'Sendable', so send it on the actor, or let the target answer "
        + "it 'nonisolated'"
    case .nonisolated:
      "nothing tells which one it is, so let the target answer it 'nonisolated'"
    }
  }
}

extension ForwardingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .targetGone(let selector): "the target of \(Self.name(selector)) is gone"
    case .nobodyAnswered(let selector): "no target answered \(Self.name(selector))"
    case .borrowedArgument(let selector, let index, let type):
      "argument \(index) (\(type)) of \(Self.name(selector)) refers to memory that has no owner; a queued message cannot "
        + "carry it"
    case .wouldDeadlock:
      "the wait would never end: it is for something that waits for this delivery itself"
    case .timedOut: "a target did not finish in time"
    case .cancelled: "a target's queue went away with the message still in it"
    case .wrongIsolation(let selector, let remedy):
      "\(Self.name(selector)) is for an actor, and was sent elsewhere; \(remedy.advice)"
    case .resultNotAwaited(let selector, let type):
      "the result (\(type)) of \(Self.name(selector)) cannot come back from a queue that is not waited for; let it block, "
        + "or await the message"
    case .notAMessage(let selector, let reason):
      "\(Self.name(selector)) cannot be a message, as \(reason): its proxy calls targets that were added to it, "
        + "with no lane, or one that blocks"
    case .needsSingleTarget(let selector):
      "an argument of \(Self.name(selector)) is 'sending', and may reach one target: put a 'SingleTarget' behind the proxy"
    }
  }

  private static func name(_ selector: Selector?) -> String {
    selector.map { "'\(RequirementNames.name(of: $0))'" } ?? "the message"
  }
}
