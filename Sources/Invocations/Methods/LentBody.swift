// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The places of the receiver and of up to three arguments, for a body that borrows them from a
/// frame. One object, because a closure with many captures is slow to call.
@safe
@usableFromInline
final class LentPlaces: Sendable {
  @usableFromInline let plan: CallPlan
  @usableFromInline let result: Place
  /// The offset of the receiver in the frame.
  @usableFromInline let receiverOffset: Int
  /// The class of the receiver, stored because looking it up during a call costs a function call.
  @usableFromInline let receiver: ObjectIdentifier
  // The last one stands for those that there are not.
  @usableFromInline let a: Place
  @usableFromInline let b: Place
  @usableFromInline let c: Place

  /// Returns nil if an argument cannot be borrowed.
  @usableFromInline
  init?<Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>, receiver: AnyObject.Type
  ) {
    let places = fitted.arguments
    guard let last = places.last, places.count <= 3, places.allSatisfy(\.isLendable) else {
      return nil
    }
    (a, b, c) = (places[0], places.count > 1 ? places[1] : last, last)
    plan = fitted.plan
    result = fitted.result
    unsafe receiverOffset = Int(plan.facts.pointee.receiver_offset)
    self.receiver = ObjectIdentifier(receiver)
  }

  /// Calls `body` with the receiver, and stores the result in the frame. If the receiver and the
  /// arguments are as usual, none of the values here live through the call, so it saves no
  /// registers.
  @inlinable @unsafe
  @inline(__always)
  func answer<Receiver: AnyObject, Value>(
    _ frame: FrameReference, areUsual: Bool, _ body: (Receiver) throws -> Value
  ) throws {
    guard areUsual,
      unsafe SwiftBody.isExactly(
        receiver, frame.base.load(fromByteOffset: receiverOffset, as: UnsafeRawPointer?.self))
    else { return try unsafe settle(frame, body) }
    try unsafe perform(frame, body)
  }

  /// Calls `body` after the remaining checks.
  @usableFromInline @unsafe
  @inline(never)
  func settle<Receiver: AnyObject, Value>(
    _ frame: FrameReference, _ body: (Receiver) throws -> Value
  ) throws {
    let object = unsafe frame.base.load(fromByteOffset: receiverOffset, as: UnsafeRawPointer?.self)
    try unsafe SwiftBody.checkClass(object, receiver)
    for place in [a, b, c] { try unsafe place.settle(frame) }
    try unsafe perform(frame, body)
  }

  @inlinable @unsafe
  @inline(__always)
  func perform<Receiver: AnyObject, Value>(
    _ frame: FrameReference, _ body: (Receiver) throws -> Value
  ) throws {
    let object = unsafe frame.base.load(fromByteOffset: receiverOffset, as: UnsafeRawPointer.self)
    // SAFETY: the object is of the class, and the sender retains it.
    let value = try unsafe Unmanaged<Receiver>.fromOpaque(object)._withUnsafeGuaranteedRef {
      try body($0)
    }
    if Value.self != Void.self { try unsafe result.store(value, in: frame.result(of: plan)) }
  }
}
