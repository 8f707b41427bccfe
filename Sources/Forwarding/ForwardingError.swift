// SPDX-License-Identifier: Apache-2.0
public import Invocations
public import TypeEncodings

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
  case borrowedArgument(Context, index: Int, type: TypeEncoding)
  /// The wait would never end: it is for something that waits for this delivery itself.
  case wouldDeadlock(Context)
  /// A target did not finish in time. If it had begun, it may still run to its end.
  case timedOut(Context)
  /// The target's queue was deallocated before the message ran.
  case cancelled(Context)
  /// A method belongs to an actor, and its message was sent elsewhere.
  case wrongIsolation(Context, IsolationRemedy)
  /// A message to another thread cannot return its result to a sender that does not wait.
  case resultNotAwaited(Context, TypeEncoding)
  /// A requirement of a protocol is called by its proxy alone, and nothing can keep the call as a message: for a
  /// target on a queue, a spy, or another process.
  case notAMessage(Context, because: String)
  /// A requirement with a `sending` parameter was sent to a proxy that may have more than one target.
  case needsSingleTarget(Selector)

  /// The message that an error is about, and its target.
  ///
  /// ```swift
  /// let late = ForwardingError.Context(selector: "didSave:", target: Logger.self, queue: "disk")
  /// "\(ForwardingError.timedOut(late))"  // 'didSave:' of Logger on queue 'disk' did not finish in time
  /// ```
  public struct Context: Hashable, Sendable {
    /// The selector of the message; nil if the error is about all messages of the target.
    public let selector: Selector?
    /// The type of the target, if it is known.
    public let target: SwiftType?
    /// The label of the queue on which the target gets its messages, if it has one.
    public let queue: String?

    /// Names a message and its target.
    public init(selector: Selector?, target: Any.Type?, queue: String? = nil) {
      self.selector = selector
      self.target = target.map { SwiftType($0) }
      self.queue = queue
    }
  }
}

/// What helps where a message was sent elsewhere than on the actor of its method.
///
/// ```swift
/// let height = ForwardingError.Context(selector: "height", target: Screen.self)
/// let error = ForwardingError.wrongIsolation(height, .awaiting)
/// "\(error)".contains("'async'")  // true
/// ```
@nonexhaustive
public enum IsolationRemedy: Hashable, Sendable {
  /// There is no result, so the target may get it later: on its actor.
  case lane
  /// No sender gets the result without waiting: the requirement is `async`, or the target answers it
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
      "add the target with its actor, as in 'on: .mainActor'"
    case .awaiting:
      "await it, as an 'async' requirement, or make the method 'nonisolated'"
    case .sendingThere:
      "not all of its values are 'Sendable', so send it on the actor, or make the method 'nonisolated'"
    case .nonisolated:
      "it is not known which actor, so make the method 'nonisolated'"
    }
  }
}

extension ForwardingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .targetGone(let selector):
      "the target of \(Self.name(selector)) is gone; keep it for as long as it is to be called"
    case .nobodyAnswered(let selector):
      "no target answered \(selector.map { RequirementNames.title(of: $0) } ?? "the message")"
    case .borrowedArgument(let context, let index, let type):
      "argument \(index) of \(context) is \(type.title), whose memory may be gone when the target is called; "
        + "pass a value or an object"
    case .wouldDeadlock(let context):
      "the wait for \(context) would never end, because its queue or actor is waiting for this call"
    case .timedOut(let context): "\(context) did not finish in time"
    case .cancelled(let context): "\(context) was not called: its queue was deallocated first"
    case .wrongIsolation(let context, let remedy):
      "\(context) belongs to an actor, but was sent from elsewhere; \(remedy.advice)"
    case .resultNotAwaited(let context, let type):
      "the result of \(context) is \(type.title), and the sender does not wait for it; await the message, or add "
        + "the target with 'on: .blocking'"
    case .notAMessage(let context, let reason):
      "\(context) cannot be a message, because \(reason); add the target itself, without a queue, or, for calls "
        + "that are not awaited, with one that blocks without a deadline"
    case .needsSingleTarget(let selector):
      "an argument of \(Self.name(selector)) is 'sending', so only one target may get it; use a 'SingleTarget'"
    }
  }

  private static func name(_ selector: Selector?) -> String {
    "\(Context(selector: selector, target: nil))"
  }
}

extension ForwardingError.Context: CustomStringConvertible {
  /// The requirement as its protocol writes it, with the target and the queue.
  public var description: String {
    let message = selector.map { "'\(RequirementNames.name(of: $0))'" }
    return (message ?? (target == nil ? "the message" : "the messages"))
      + (target.map { " of \($0)" } ?? "") + (queue.map { " on queue '\($0)'" } ?? "")
  }
}

extension ForwardingError.Context {
  /// Names a message to the target of a registration.
  init(_ selector: Selector?, to registration: Registration) {
    self.init(
      selector: selector, target: registration.targetType,
      queue: registration.carrier.marked?.label)
  }
}
