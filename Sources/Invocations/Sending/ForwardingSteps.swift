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

  var type: AnyClass { unsafe with(as: AnyObject.self) { Swift.type(of: $0) } }

  /// The address of the class.
  @inline(__always)
  var typeWord: UInt {
    unsafe with(as: AnyObject.self) { UInt(bitPattern: ObjectIdentifier(Swift.type(of: $0))) }
  }

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

  func ownMethod<Object: MethodProviding>(
    for selector: Selector, as type: Object.Type
  ) -> Implementation? {
    unsafe with(as: type) { $0.ownMethod(for: selector) }
  }
}

/// What answers a message whose receiver has a class without a method for it.
enum Answerer {
  case method(Implementation)
  case steps(ForwardingSteps)
}

/// The step by which an object forwards a message.
enum ForwardingStep {
  /// Another object gets the message.
  case target(AnyObject)
  /// The object gets the invocation.
  case invocation
  /// The message is answered.
  case none
}

// The decisions of a send, awaited or not. They may run code of the receiver and its class, which may
// have the invocation, so the target is lent meanwhile.
extension Invocation {
  /// Finds what answers a message to an object.
  ///
  /// - Throws: ``InvocationError/unrecognizedSelector(_:type:nearest:)``; or an error if the types of the
  ///   method differ.
  func answerer(
    _ receiver: BorrowedObject, _ selector: Selector
  ) throws(InvocationError) -> Answerer {
    let (table, method) = call.lendingTarget { () -> (MethodTable, Implementation?) in
      let (table, method) = MethodTable.find(receiver.type, selector)
      return (table, method ?? table.ownOrClassMethod(of: receiver, for: selector))
    }
    if let method { return .method(try call.check(method, selector)) }
    if let steps = table.forwarding { return .steps(steps) }
    // The class leaves out this optional requirement.
    if table.signature(for: selector) != nil { UnansweredMessages.note(call) }
    throw unsafe receiver.with(as: AnyObject.self) {
      InvocationError.unrecognized(selector, by: $0)
    }
  }

  /// Takes the steps after the resolver, up to the one that sends or forwards the message.
  ///
  /// - Throws: ``InvocationError/signatureMismatch(name:expected:given:)``, or the error of the
  ///   object.
  func nextStep(
    _ selector: Selector, of target: some MessageForwarding
  ) throws -> ForwardingStep {
    let other = call.lendingTarget { target.forwardingTarget(for: selector) }
    if let other, other !== target { return .target(other) }
    guard let signature = call.lendingTarget({ target.signature(for: self) }) else {
      try target.unrecognizedSelector(selector)
      // An object that does not throw has no answer, so the result is zero.
      call.answerWithZero()
      return .none
    }
    if signature.isInterchangeable(with: plan.signature) { return .invocation }
    throw InvocationError.signatureMismatch(
      name: selector.name, expected: signature, given: plan.signature)
  }
}

/// The target of a call and its ownership, while another object is in its place.
struct TargetBefore {
  fileprivate let word: UInt64
  fileprivate let isOwned: Bool
  fileprivate let isLent: Bool
}

extension Call {
  /// Sets a temporary target, which the caller retains until `takeBack`.
  func lendTarget(_ object: AnyObject) -> TargetBefore {
    let before = TargetBefore(word: slot(0).word, isOwned: owns(0), isLent: isTargetLent)
    setOwns(0, false)
    isTargetLent = false
    slot(0).object = object
    return before
  }

  /// Restores the target, and the selector if one is given.
  func takeBack(_ before: TargetBefore, _ selector: Selector? = nil) {
    // The object that forwarded may have set another target.
    let other = owns(0) ? detachArgument(0) : nil
    slot(0).word = before.word
    setOwns(0, before.isOwned)
    isTargetLent = before.isLent
    if let selector { setSelector(selector) }
    if let other { letGo(other) }
  }
}
