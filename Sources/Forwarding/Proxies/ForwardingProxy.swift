/// An object that stands for others: the base of all proxies.
///
/// As with `NSProxy`, a proxy has almost nothing of its own, namely its identity; every message goes
/// through the steps of ``MessageForwarding``, each of which a subclass may override. `responds(to:)`
/// and `conforms(to:)` are the steps that make it look like what it stands for.
open class ForwardingProxy: MessageForwarding {
  /// Makes a proxy that stands for nothing yet.
  public init() {}

  @discardableResult
  open class func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool { false }

  open func forwardingTarget(for selector: Selector) -> AnyObject? { nil }

  open func methodSignature(for selector: Selector) -> MethodSignature? {
    MethodTable.of(type(of: self)).signature(for: selector)
  }

  open func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    InvocationMatch(methodSignature(for: selector), invocation)
  }

  open func forward(_ invocation: Invocation) throws {
    if let selector = invocation.selector { try unrecognizedSelector(selector) }
  }

  open func unrecognizedSelector(_ selector: Selector) throws {
    throw InvocationError.unrecognizedSelector(
      className: "\(type(of: self))", selector: selector.name, nearest: nil)
  }

  open func responds(to selector: Selector) -> Bool {
    MethodTable.of(type(of: self)).instancesRespond(to: selector)
  }

  open func conforms(to description: ProtocolDescription) -> Bool {
    MethodTable.of(type(of: self)).conforms(to: description)
  }
}

/// What the sender of a message gets that nobody answered.
public enum UnansweredRule: Sendable {
  /// An error, if the message has a result; nothing happens if it has none.
  case error
  /// Zero, as from a message to nil.
  case zero
}

/// Why a proxy could not do what it was asked.
public enum ForwardingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The one target of a proxy has died.
  case targetGone(selector: String)
  /// No target answers, and the message has a result.
  case nobodyAnswered(selector: String)
  /// The target is registered already, and duplicates are refused.
  case duplicateTarget(className: String)
  /// A proxy cannot be its own target.
  case ownTarget
  /// A message to another thread would refer to memory that nobody keeps.
  case borrowedArgument(index: Int, type: String)
  /// What would be waited for waits for this delivery itself.
  case wouldDeadlock
  /// A target did not finish in time.
  case timedOut
  /// A target's queue went away with the message still in it.
  case cancelled
  /// A message to another thread cannot give its result back to a sender that does not wait.
  case resultNotAwaited(type: String)

  public var description: String {
    switch self {
    case .targetGone(let selector): "the target of '\(selector)' is gone"
    case .nobodyAnswered(let selector): "nobody answered '\(selector)', which has a result"
    case .duplicateTarget(let name): "this \(name) is a target already"
    case .ownTarget: "a proxy cannot be its own target"
    case .borrowedArgument(let index, let type):
      "argument \(index) (\(type)) refers to memory that nobody keeps; a queued message cannot "
        + "carry it"
    case .wouldDeadlock:
      "to wait here would never end: what would be waited for waits for this delivery"
    case .timedOut: "a target did not finish in time"
    case .cancelled: "a target's queue went away with the message still in it"
    case .resultNotAwaited(let type):
      "the result (\(type)) cannot come back from a queue that is not waited for; let it block, "
        + "or ignore the result"
    }
  }
}
