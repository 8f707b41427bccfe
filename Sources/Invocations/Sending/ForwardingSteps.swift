// SPDX-License-Identifier: Apache-2.0
import TypeEncodings

// A dynamic cast to a protocol takes longer than a send. So each class is cast once, and the answer
// is used for all of its objects.

/// A class of proxies that forward a message without an invocation.
package protocol CallForwarding: MessageForwarding {
  /// The class that forwards calls. A subclass may override steps, and gets invocations.
  static var callForwardingClass: AnyClass { get }

  /// Forwards a call, as `forward(_:)` does with an invocation.
  func forward(_ call: Call) throws
}

/// How the objects of one class forward.
struct ForwardingSteps {
  /// The class, as a class with the steps of ``MessageForwarding``.
  let type: any MessageForwarding.Type
  /// The class, if its objects forward calls without an invocation.
  let callType: (any CallForwarding.Type)?

  /// Inspects a class. Returns nil if its objects do not forward.
  init?(_ type: AnyClass) {
    guard let forwarding = type as? any MessageForwarding.Type else { return nil }
    self.type = forwarding
    callType = (type as? any CallForwarding.Type).flatMap {
      $0.callForwardingClass == type ? $0 : nil
    }
  }
}

/// An object that a caller up the stack retains. Passing it on costs nothing; each retain and
/// release on the path of a message would cost half as much as calling a stored closure.
@safe
struct BorrowedObject {
  // SAFETY: only used before the function that retains the object returns.
  let address: UnsafeRawPointer

  /// - Safety: the object must outlive this reference.
  @unsafe
  init(_ address: UnsafeRawPointer) { unsafe self.address = address }

  /// Passes the object to `body` as an instance of a class that it is known to have.
  @inline(__always)
  @unsafe
  func with<Object: AnyObject, Result>(
    as type: Object.Type, _ body: (Object) throws -> Result
  ) rethrows -> Result {
    try unsafe Unmanaged<Object>.fromOpaque(address)._withUnsafeGuaranteedRef(body)
  }
}

// SAFETY (all): the type comes from the method table of the object's class.
extension BorrowedObject {
  func forward<Proxy: CallForwarding>(_ call: Call, as type: Proxy.Type) throws {
    try unsafe with(as: type) { try $0.forward(call) }
  }

  func forwardingTarget<Object: MessageForwarding>(
    for selector: Selector, as type: Object.Type
  ) -> AnyObject? {
    unsafe with(as: type) { $0.forwardingTarget(for: selector) }
  }

  func match<Object: MessageForwarding>(
    _ invocation: Invocation, _ selector: Selector, as type: Object.Type
  ) -> InvocationMatch {
    unsafe with(as: type) { $0.match(invocation, selector) }
  }

  func methodSignature<Object: MessageForwarding>(
    for selector: Selector, as type: Object.Type
  ) -> MethodSignature? {
    unsafe with(as: type) { $0.methodSignature(for: selector) }
  }

  func forward<Object: MessageForwarding>(
    _ invocation: Invocation, as type: Object.Type
  ) throws {
    try unsafe with(as: type) { try $0.forward(invocation) }
  }

  func unrecognizedSelector<Object: MessageForwarding>(
    _ selector: Selector, as type: Object.Type
  ) throws {
    try unsafe with(as: type) { try $0.unrecognizedSelector(selector) }
  }

  func ownMethod<Object: MethodProviding>(
    for selector: Selector, as type: Object.Type
  ) -> Implementation? {
    unsafe with(as: type) { $0.ownMethod(for: selector) }
  }
}
