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
/// The message is sent on unchanged, as by Objective-C's `forwardingTargetForSelector:`.
open class SingleTargetProxy: ForwardingProxy {
  private var reference: ObjectReference?
  /// What a sender gets after the target has died.
  public var whenTargetIsGone = UnansweredRule.throw

  /// Makes a proxy for an object.
  public init(_ target: AnyObject?, strongly: Bool = false) {
    reference = target.map { ObjectReference($0, isStrong: strongly) }
  }

  /// The object, while it lives.
  public var target: AnyObject? { reference?.object }

  /// Stands for another object from now on.
  public func setTarget(_ target: AnyObject?, strongly: Bool = false) {
    // The old target may die here, and use the proxy in its `deinit`.
    let old = reference
    defer { withExtendedLifetime(old) {} }
    reference = target.map { ObjectReference($0, isStrong: strongly) }
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
