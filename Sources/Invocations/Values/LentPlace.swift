// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The location of an argument in a frame, through which a body borrows the value without a copy, a
/// retain or a release.
///
/// The value is in the sender's memory, or in the frame's own word. Words are little-endian, so a
/// narrow value is at the beginning of its word.
@safe
@usableFromInline
@frozen
package struct LentPlace: Sendable {
  @usableFromInline
  @frozen
  enum Way: UInt8, Sendable {
    /// The word is the value.
    case word
    /// The word is a Boolean, in which C may have stored any byte.
    case truth
    /// The word is a reference to an object, whose class must be checked.
    case object
    /// The word is the address of the value.
    case address
    /// The word is the address of a `String`, or zero.
    case text
  }

  /// The type of the value.
  @usableFromInline let type: ObjectIdentifier
  /// The offset of the word in the frame.
  @usableFromInline let offset: UInt32
  @usableFromInline let index: UInt16
  @usableFromInline let way: Way

  /// Fills the fields of `LentPlaces` that have no argument.
  static let none = LentPlace()

  private init() {
    (type, offset, index, way) = (ObjectIdentifier(Never.self), 0, 0, .word)
  }

  /// Returns nil for a value that must be converted.
  init?(_ place: TypedPlace, _ slot: FWDSlot, index: Int) {
    switch place.way {
    // A promoted argument of a variadic function is wider than its Swift type.
    case .word(let word) where slot.kind == slot.declared: way = word == .bool ? .truth : .word
    case .object: way = .object
    case .address: way = .address
    case .text: way = .text
    case .word, .converted, .nothing: return nil
    }
    type = ObjectIdentifier(place.type.type)
    offset = slot.offset
    self.index = UInt16(index)
  }

  // SAFETY (all): `Value` is the type of the place, and the frame is a frame of its plan.

  /// Whether the value is there and valid, as far as a quick check tells. A cast takes longer than
  /// a call, and most objects are of exactly the declared class.
  @inlinable @unsafe
  @inline(__always)
  func isUsual<Value>(as type: Value.Type, in frame: FrameReference) -> Bool {
    let word = unsafe frame.base + Int(offset)
    // A value of more than eight bytes is in other memory. The compiler drops this test where it
    // knows the type.
    if MemoryLayout<Value>.size > 8 { return unsafe word.load(as: UInt.self) != 0 }
    if way == .word { return true }
    if way == .object {
      return unsafe SwiftBody.isExactly(self.type, word.load(as: UnsafeRawPointer?.self))
    }
    return unsafe way == .truth && word.load(as: UInt8.self) <= 1
  }

  /// Makes sure that the value may be read.
  ///
  /// - Throws: ``InvocationError`` if the value is missing or an object of another class.
  @unsafe
  func settle(_ frame: FrameReference) throws(InvocationError) {
    let word = unsafe frame.base + Int(offset)
    switch way {
    case .word: break
    case .truth:
      if unsafe word.load(as: UInt8.self) > 1 { unsafe word.storeBytes(of: 1, as: UInt8.self) }
    case .object: try unsafe SwiftBody.checkClass(word.load(as: UnsafeRawPointer?.self), type)
    case .address:
      if unsafe word.load(as: UInt.self) == 0 { throw .missingValue(index: Int(index)) }
    case .text:
      let isMissing = unsafe word.load(as: UInt.self) == 0
      if isMissing, type != ObjectIdentifier(String?.self) { throw .notText(index: Int(index)) }
    }
  }

  /// The address of the value, valid while the body runs. Requires `isUsual` or a successful
  /// `settle`.
  @inlinable @unsafe
  @inline(__always)
  func pointer<Value>(as type: Value.Type, in frame: FrameReference) -> UnsafePointer<Value> {
    let word = unsafe frame.base + Int(offset)
    if MemoryLayout<Value>.size <= 8, way.rawValue < Way.address.rawValue {
      return unsafe UnsafePointer(word.assumingMemoryBound(to: Value.self))
    }
    // Missing text has no address.
    return unsafe word.load(as: UnsafePointer<Value>?.self) ?? missing(as: type)
  }

  @usableFromInline @unsafe
  @inline(never)
  func missing<Value>(as type: Value.Type) -> UnsafePointer<Value> {
    unsafe UnsafeRawPointer(Self.noText).assumingMemoryBound(to: Value.self)
  }

  // SAFETY: initialized here, and only read afterwards.
  private static nonisolated(unsafe) let noText: UnsafePointer<String?> = {
    let memory = UnsafeMutablePointer<String?>.allocate(capacity: 1)
    unsafe memory.initialize(to: nil)
    return unsafe UnsafePointer(memory)
  }()
}

/// The places of the receiver and of up to four arguments, for a body that takes them from a frame.
/// One object, because a closure with many captures is slow to call.
@safe
@usableFromInline
final class LentPlaces: Sendable {
  @usableFromInline let plan: CallPlan
  @usableFromInline let result: TypedPlace
  /// The offset of the receiver in the frame.
  @usableFromInline let receiverOffset: Int
  /// The class of the receiver, stored because looking it up during a call costs a function call.
  @usableFromInline let receiver: ObjectIdentifier
  @usableFromInline let a: LentPlace
  @usableFromInline let b: LentPlace
  @usableFromInline let c: LentPlace
  @usableFromInline let d: LentPlace

  /// Returns nil if an argument cannot be borrowed.
  @usableFromInline
  init?<Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>, receiver: AnyObject.Type
  ) {
    var places: [LentPlace] = []
    for (index, place) in fitted.arguments.enumerated() {
      let slot = unsafe fitted.plan.slots[fitted.first + index]
      guard let lent = LentPlace(place, slot, index: fitted.first + index) else { return nil }
      places.append(lent)
    }
    func place(_ index: Int) -> LentPlace { index < places.count ? places[index] : .none }
    (a, b, c, d) = (place(0), place(1), place(2), place(3))
    plan = fitted.plan
    result = fitted.result
    unsafe receiverOffset = Int(plan.facts.pointee.receiver_offset)
    self.receiver = ObjectIdentifier(receiver)
  }

  @inlinable @unsafe
  @inline(__always)
  func isReceiverUsual(in frame: FrameReference) -> Bool {
    unsafe SwiftBody.isExactly(
      receiver, frame.base.load(fromByteOffset: receiverOffset, as: UnsafeRawPointer?.self))
  }

  /// Makes sure that the receiver and the arguments may be read.
  ///
  /// - Throws: ``InvocationError`` if one is missing or an object of another class.
  @usableFromInline @unsafe
  func settle(_ frame: FrameReference) throws {
    let object = unsafe frame.base.load(fromByteOffset: receiverOffset, as: UnsafeRawPointer?.self)
    try unsafe SwiftBody.checkClass(object, receiver)
    for place in [a, b, c, d] { try unsafe place.settle(frame) }
  }

  /// Calls `body` with the receiver, which was checked, and stores the result in the frame.
  @inlinable @unsafe
  @inline(__always)
  func answer<Receiver: AnyObject, Value>(
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
