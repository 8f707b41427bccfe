/// A proxy for one object, which it holds weakly unless told otherwise.
///
/// ```swift
/// let proxy = SingleTargetProxy(calculator)
/// try Message<Int32, Int32, Int32>("add:to:")(2, 3, on: proxy)  // 5
/// proxy.setTarget(nil)
/// proxy.whenTargetIsGone = .zero
/// try Message<Int32, Int32, Int32>("add:to:")(2, 3, on: proxy)  // 0
/// ```
///
/// The message is sent on unchanged, as by Objective-C's `forwardingTargetForSelector:`. Safe to use from many
/// threads.
open class SingleTargetProxy: ForwardingProxy, @unchecked Sendable {
  // SAFETY: all that changes is behind `state`.

  private struct State: Sendable {
    var reference: ObjectReference?
    var whenTargetIsGone = UnansweredRule.throw
  }

  private let state: Guarded<State>

  /// Makes a proxy for an object.
  public init(_ target: AnyObject?, strongly: Bool = false) {
    state = Guarded(
      State(reference: target.map { ObjectReference($0, isStrong: strongly) }))
  }

  /// The object, while it lives.
  public var target: AnyObject? { state.read { $0.reference }?.object }

  /// Stands for another object from now on.
  public func setTarget(_ target: AnyObject?, strongly: Bool = false) {
    let reference = target.map { ObjectReference($0, isStrong: strongly) }
    // The old target may die here, outside of the lock, and use the proxy in its `deinit`.
    state.withLock { $0.reference = reference }
  }

  /// What a sender gets after the target has died. ``UnansweredRule/throw`` at first.
  public var whenTargetIsGone: UnansweredRule {
    get { state.read { $0.whenTargetIsGone } }
    set { state.withLock { $0.whenTargetIsGone = newValue } }
  }

  open override func forwardingTarget(for selector: Selector) -> AnyObject? { target }

  open override func methodSignature(for selector: Selector) -> MethodSignature? {
    Introspection.signature(of: target, for: selector)
  }

  /// Only reached when the target is gone, as ``forwardingTarget(for:)`` comes first.
  open override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    .fits
  }

  open override func forward(_ invocation: Invocation) throws {
    switch whenTargetIsGone {
    case .throw, .throwForResults:
      throw ForwardingError.targetGone(invocation.selector)
    case .zero: invocation.answerWithZero()
    }
  }

  open override func responds(to selector: Selector) -> Bool {
    Introspection.responds(target, to: selector)
  }

  open override func conforms(to description: ProtocolDescription) -> Bool {
    Introspection.conforms(target, to: description)
  }
}
