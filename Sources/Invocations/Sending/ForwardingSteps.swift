import TypeEncodings

// Asking an object at run time whether it conforms takes longer than sending it a message. A class is
// asked once; from then on its objects are taken at its word.

/// A class of proxies that need no invocation to pass a message on.
package protocol CallForwarding: MessageForwarding {
  /// The class that passes calls on. A class below it may have steps of its own, and gets
  /// invocations.
  static var callForwardingClass: AnyClass { get }

  /// Passes a call on, as `forward(_:)` does with an invocation.
  func forward(_ call: Call) throws

  /// The method of the first object that it passes calls on to, if that one's class has it.
  func targetMethod(for selector: Selector) -> Implementation?
}

/// How the objects of one class forward.
struct ForwardingSteps {
  /// The class, as one that takes the steps of ``MessageForwarding``.
  let type: any MessageForwarding.Type
  /// The same, if its objects pass calls on without an invocation.
  let callType: (any CallForwarding.Type)?

  /// Asks a class; nil if its objects do not forward.
  init?(_ type: AnyClass) {
    guard let forwarding = type as? any MessageForwarding.Type else { return nil }
    self.type = forwarding
    callType = (type as? any CallForwarding.Type).flatMap {
      $0.callForwardingClass == type ? $0 : nil
    }
  }
}

/// An object that is held by somebody up the stack. To pass it on as such costs nothing; every
/// retain and release on the way of a message would cost half a stored closure.
@safe
struct BorrowedObject {
  // SAFETY: used only before the function that holds the object returns.
  let address: UnsafeRawPointer

  /// - Safety: somebody must hold the object for as long as this is used.
  @unsafe
  init(_ address: UnsafeRawPointer) { unsafe self.address = address }

  /// The object as an instance of a class that it is known to have.
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

  func targetMethod<Proxy: CallForwarding>(
    for selector: Selector, as type: Proxy.Type
  ) -> Implementation? {
    unsafe with(as: type) { $0.targetMethod(for: selector) }
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
