// Asking an object at run time whether it conforms takes longer than sending it a message. A class is
// asked once; from then on its objects are taken at its word.

/// An object that is held by somebody up the stack. To pass it on as such costs nothing; every
/// retain and release on the way of a message would cost half a stored closure.
@safe
struct HeldObject {
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

/// How the objects of one class take the steps of ``MessageForwarding``.
class ForwardingSteps: @unchecked Sendable {
  // SAFETY: nothing is stored that changes.

  /// Whether calls can be passed on without an invocation.
  let forwardsCalls: Bool

  init(forwardsCalls: Bool) { self.forwardsCalls = forwardsCalls }

  static func of<Object: MessageForwarding>(_ type: Object.Type) -> ForwardingSteps {
    func calls<Proxy: CallForwarding>(_ type: Proxy.Type) -> ForwardingSteps? {
      type.callForwardingClass == type ? CallStepsOf<Proxy>(forwardsCalls: true) : nil
    }
    if let type = type as? any CallForwarding.Type, let steps = calls(type) { return steps }
    return StepsOf<Object>(forwardsCalls: false)
  }

  func forward(_ object: HeldObject, _ call: LentCall) throws {}

  func target(_ object: HeldObject, _ selector: Selector) -> AnyObject? { nil }

  func match(
    _ object: HeldObject, _ invocation: Invocation, _ selector: Selector
  ) -> InvocationMatch { .unknown }

  func forward(_ object: HeldObject, _ invocation: Invocation) throws {}

  func unrecognized(_ object: HeldObject, _ selector: Selector) throws {}
}

private class StepsOf<Object: MessageForwarding>: ForwardingSteps, @unchecked Sendable {
  // SAFETY (all): the table of a class asks only with objects of that class.

  override func target(_ object: HeldObject, _ selector: Selector) -> AnyObject? {
    unsafe object.with(as: Object.self) { $0.forwardingTarget(for: selector) }
  }

  override func match(
    _ object: HeldObject, _ invocation: Invocation, _ selector: Selector
  ) -> InvocationMatch {
    unsafe object.with(as: Object.self) { $0.match(invocation, selector) }
  }

  override func forward(_ object: HeldObject, _ invocation: Invocation) throws {
    try unsafe object.with(as: Object.self) { try $0.forward(invocation) }
  }

  override func unrecognized(_ object: HeldObject, _ selector: Selector) throws {
    try unsafe object.with(as: Object.self) { try $0.unrecognizedSelector(selector) }
  }
}

private final class CallStepsOf<Object: CallForwarding>: StepsOf<Object>, @unchecked Sendable {
  override func forward(_ object: HeldObject, _ call: LentCall) throws {
    try unsafe object.with(as: Object.self) { try $0.forward(call) }
  }
}

/// How the objects of one class find methods of their own.
class OwnMethods: @unchecked Sendable {
  // SAFETY: nothing is stored.

  static func of<Object: MethodHolding>(_: Object.Type) -> OwnMethods { OwnMethodsOf<Object>() }

  func method(of object: HeldObject, _ selector: Selector) -> Implementation? { nil }
}

private final class OwnMethodsOf<Object: MethodHolding>: OwnMethods, @unchecked Sendable {
  override func method(of object: HeldObject, _ selector: Selector) -> Implementation? {
    // SAFETY: as in `StepsOf`.
    unsafe object.with(as: Object.self) { $0.ownMethod(for: selector) }
  }
}
