public import CForwardingShims

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

  /// The value's memory, for as long as the body runs.
  ///
  /// - Safety: `Value` is the type of the place, and the frame is one of its plan.
  @inlinable @unsafe
  @inline(__always)
  func pointer<Value>(
    as type: Value.Type, in frame: FrameReference
  ) throws(InvocationError) -> UnsafePointer<Value> {
    let word = unsafe frame.base + Int(offset)
    // What is larger than a word is somewhere else: known where the type is.
    if MemoryLayout<Value>.size > 8 { return try unsafe address(at: word) }
    // In the order of how common they are, which a switch would not keep.
    if way == .object {
      // A cast takes longer than a call, and most objects are of the very class.
      if unsafe !SwiftBody.isExactly(self.type, word.load(as: UnsafeRawPointer?.self)) {
        try unsafe checkObject(as: type, word)
      }
    } else if way != .word {
      if way != .truth { return try unsafe address(at: word) }
      if unsafe word.load(as: UInt8.self) > 1 { unsafe word.storeBytes(of: 1, as: UInt8.self) }
    }
    return unsafe UnsafePointer(word.assumingMemoryBound(to: Value.self))
  }

  @inlinable @unsafe
  @inline(__always)
  func address<Value>(
    at word: UnsafeMutableRawPointer
  ) throws(InvocationError) -> UnsafePointer<Value> {
    guard let value = unsafe word.load(as: UnsafePointer<Value>?.self) else {
      return try unsafe missing(as: Value.self)
    }
    return unsafe value
  }

  /// What stands for a value that is not there: no text, or an error.
  @usableFromInline @unsafe
  func missing<Value>(as type: Value.Type) throws(InvocationError) -> UnsafePointer<Value> {
    guard way == .text else { throw .missingValue(index: Int(index)) }
    guard type == String?.self else { throw .notText(index: Int(index)) }
    return unsafe UnsafeRawPointer(Self.noText).assumingMemoryBound(to: Value.self)
  }

  // SAFETY: set here, and only read.
  private static nonisolated(unsafe) let noText: UnsafePointer<String?> = {
    let memory = UnsafeMutablePointer<String?>.allocate(capacity: 1)
    unsafe memory.initialize(to: nil)
    return unsafe UnsafePointer(memory)
  }()

  /// Refuses nil, and an object that is no instance of the class or of one below it.
  @usableFromInline @unsafe
  func checkObject<Value>(
    as type: Value.Type, _ word: UnsafeMutableRawPointer
  ) throws(InvocationError) {
    guard let object = unsafe word.load(as: AnyObject?.self) else {
      throw .wrongClass(expected: SwiftType(type), given: nil)
    }
    guard object is Value else {
      throw .wrongClass(expected: SwiftType(type), given: SwiftType(Swift.type(of: object)))
    }
  }
}

/// What a body needs to know of its plan to take its receiver and up to four arguments from a frame: one
/// object, as a closure that captures much takes long to be called.
@safe
@usableFromInline
final class LentPlaces: Sendable {
  @usableFromInline let plan: CallPlan
  @usableFromInline let result: TypedPlace
  // SAFETY: the plan is kept.
  @usableFromInline nonisolated(unsafe) let slots: UnsafePointer<FWDSlot>
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
    unsafe slots = plan.slots
    self.receiver = ObjectIdentifier(receiver)
  }
}
