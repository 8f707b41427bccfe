// SPDX-License-Identifier: Apache-2.0
public import Invocations
public import TypeEncodings

/// An untyped proxy that may stand for its proxy among the targets of another one.
package protocol SharedProxy: ForwardingProxy, Sendable {}

/// An object that forwards messages to others: the base class of all proxies.
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
/// Like `NSProxy`, a proxy implements little but its identity. Every message goes through the steps
/// of ``MessageForwarding``, and a subclass may override each of them. `responds(to:)` and
/// `conforms(to:)` are the steps that make a proxy look like its target.
open class ForwardingProxy: MessageForwarding {
  /// Creates a proxy without a target.
  public init() {}

  @discardableResult
  open class func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool { false }

  open func forwardingTarget(for selector: Selector) -> AnyObject? { nil }

  open func methodSignature(for selector: Selector) -> MethodSignature? {
    MethodTable.of(type(of: self)).signature(for: selector)
  }

  open func signature(for invocation: Invocation) -> MethodSignature? {
    invocation.selector.flatMap { methodSignature(for: $0) }
  }

  open func forward(_ invocation: Invocation) throws {
    if let selector = invocation.selector { try unrecognizedSelector(selector) }
  }

  /// Forwards an invocation whose sender awaits it. Unless a subclass overrides it, it calls
  /// ``forward(_:)``, which does not suspend.
  ///
  /// - Throws: the error of ``forward(_:)``.
  open nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws {
    try invocation.call.forwarding(by: self) { try forward(invocation) }
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
