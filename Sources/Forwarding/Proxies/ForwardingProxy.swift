/// An object that stands for others: the base of all proxies.
///
/// ```swift
/// final class Logged: ForwardingProxy {
///   override func forwardingTarget(for selector: Selector) -> AnyObject? {
///     print("\(selector)")  // height
///     return screen
///   }
///   let screen = Screen()
/// }
/// try Message<Double>("height")(on: Logged())  // 100.0
/// ```
///
/// As with `NSProxy`, a proxy has little of its own but its identity. Every message goes through
/// the steps of ``MessageForwarding``; a subclass may override each of them. `responds(to:)` and
/// `conforms(to:)` are the steps that make it look like what it stands for.
open class ForwardingProxy: MessageForwarding {
  /// Makes a proxy that stands for nothing yet.
  public init() {}

  @discardableResult
  open class func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool { false }

  open func forwardingTarget(for selector: Selector) -> AnyObject? { nil }

  open func methodSignature(for selector: Selector) -> MethodSignature? {
    MethodTable.signature(of: type(of: self), for: selector)
  }

  open func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    InvocationMatch(methodSignature(for: selector), invocation)
  }

  open func forward(_ invocation: Invocation) throws {
    if let selector = invocation.selector { try unrecognizedSelector(selector) }
  }

  /// Handles an invocation whose sender awaits the end. ``forward(_:)`` does, at once, unless this is
  /// overridden as well.
  open nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws {
    try invocation.forwardAtOnce(by: self)
  }

  open func unrecognizedSelector(_ selector: Selector) throws {
    throw InvocationError.unrecognizedSelector(
      selector, type: SwiftType(type(of: self)), nearest: nil)
  }

  open func responds(to selector: Selector) -> Bool {
    MethodTable.of(type(of: self)).instancesRespond(to: selector)
  }

  open func conforms(to description: ProtocolDescription) -> Bool {
    MethodTable.of(type(of: self)).conforms(to: description)
  }
}
