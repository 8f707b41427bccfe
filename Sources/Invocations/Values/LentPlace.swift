import CForwardingShims

/// Where an argument lies while a body runs, so that the body gets it without a copy: no reference is
/// counted on the way.
///
/// The memory is the sender's, or the frame's own word: words are little-endian, so a narrow value is at
/// the beginning of its word.
@safe
@usableFromInline
@frozen
package struct LentPlace: Sendable {
  @usableFromInline
  @frozen
  enum Way: UInt8, Sendable {
    /// The word is the value.
    case word
    /// The word is a truth value, in which C may have left any byte.
    case truth
    /// The word is a reference to an object, which must be of the class.
    case object
    /// The word is the address of the value.
    case address
    /// The word is the address of a `String`, or zero.
    case text
  }

  /// The type of the value.
  @usableFromInline let type: ObjectIdentifier
  /// Where the word is in the frame.
  @usableFromInline let offset: UInt32
  @usableFromInline let index: UInt16
  @usableFromInline let way: Way

  /// Stands where there is no argument.
  static let none = LentPlace()

  private init() {
    (type, offset, index, way) = (ObjectIdentifier(Never.self), 0, 0, .word)
  }

  /// Nil for a value that is no more than made from what is in the frame.
  init?(_ place: TypedPlace, _ slot: FWDSlot, index: Int) {
    switch place.way {
    // A promoted argument of a variadic function is wider than its type.
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

  // SAFETY (all): `Value` is the type of the place, and the frame is one of its plan.

  /// Whether the value is there, and of its type, as far as a look tells. A cast takes longer than a call,
  /// and most objects are of the very class.
  @inlinable @unsafe
  @inline(__always)
  func isUsual<Value>(as type: Value.Type, in frame: FrameReference) -> Bool {
    let word = unsafe frame.base + Int(offset)
    // What is larger than a word is somewhere else: known where the type is.
    if MemoryLayout<Value>.size > 8 { return unsafe word.load(as: UInt.self) != 0 }
    if way == .word { return true }
    if way == .object {
      return unsafe SwiftBody.isExactly(self.type, word.load(as: UnsafeRawPointer?.self))
    }
    return unsafe way == .truth && word.load(as: UInt8.self) <= 1
  }

  /// Makes sure that the value may be read, or throws.
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

  /// The value's memory, for as long as the body runs, if it is as usual or was settled.
  @inlinable @unsafe
  @inline(__always)
  func pointer<Value>(as type: Value.Type, in frame: FrameReference) -> UnsafePointer<Value> {
    let word = unsafe frame.base + Int(offset)
    if MemoryLayout<Value>.size <= 8, way.rawValue < Way.address.rawValue {
      return unsafe UnsafePointer(word.assumingMemoryBound(to: Value.self))
    }
    // Text that is missing has no address.
    return unsafe word.load(as: UnsafePointer<Value>?.self) ?? missing(as: type)
  }

  @usableFromInline @unsafe
  @inline(never)
  func missing<Value>(as type: Value.Type) -> UnsafePointer<Value> {
    unsafe UnsafeRawPointer(Self.noText).assumingMemoryBound(to: Value.self)
  }

  // SAFETY: set here, and only read.
  private static nonisolated(unsafe) let noText: UnsafePointer<String?> = {
    let memory = UnsafeMutablePointer<String?>.allocate(capacity: 1)
    unsafe memory.initialize(to: nil)
    return unsafe UnsafePointer(memory)
  }()
}

/// What a body needs to know of its plan to take its receiver and up to four arguments from a frame: one
/// object, as a closure that captures much takes long to be called.
@safe
@usableFromInline
final class LentPlaces: Sendable {
  @usableFromInline let plan: CallPlan
  @usableFromInline let result: TypedPlace
  /// Where the receiver is in the frame.
  @usableFromInline let receiverOffset: Int
  /// The class of the receiver, found once, because asking for it in the middle of a call is a call.
  @usableFromInline let receiver: ObjectIdentifier
  @usableFromInline let a: LentPlace
  @usableFromInline let b: LentPlace
  @usableFromInline let c: LentPlace
  @usableFromInline let d: LentPlace

  /// Nil if an argument cannot be lent.
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

  /// Makes sure that receiver and arguments may be read, or throws.
  @usableFromInline @unsafe
  func settle(_ frame: FrameReference) throws {
    let object = unsafe frame.base.load(fromByteOffset: receiverOffset, as: UnsafeRawPointer?.self)
    try unsafe SwiftBody.checkClass(object, receiver)
    for place in [a, b, c, d] { try unsafe place.settle(frame) }
  }

  /// Leaves in the frame what `body` answers with the receiver, which was looked at.
  @inlinable @unsafe
  @inline(__always)
  func answer<Receiver: AnyObject, Value>(
    _ frame: FrameReference, _ body: (Receiver) throws -> Value
  ) throws {
    let object = unsafe frame.base.load(fromByteOffset: receiverOffset, as: UnsafeRawPointer.self)
    // SAFETY: an object of the class, and the sender holds it.
    let value = try unsafe Unmanaged<Receiver>.fromOpaque(object)._withUnsafeGuaranteedRef {
      try body($0)
    }
    if Value.self != Void.self { try unsafe result.store(value, in: frame.result(of: plan)) }
  }
}
