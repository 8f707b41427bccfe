public import CForwardingShims

/// A Swift type whose values can be arguments and results of calls.
///
/// The package conforms the integers and floats of C, `Bool`, pointers, `String` (for `*`) and
/// ``Selector``. Adopt ``CallObject`` for a class, and ``CallStructure`` for a C structure;
/// conforming to this protocol itself is for types that neither describes.
///
/// A value is matched with a place by its kind: an `Int32` fits `i` and nothing else. Conversions
/// are made only where a method named `exactly` asks for them.
public protocol CallValue: SendableMetatype {
  /// The encoding that is spelled for this type when a signature is derived from Swift types.
  static var typeEncoding: String { get }
  /// The kind of place that values of this type fit.
  static var valueKind: ValueKind { get }
  /// What the owner of a frame has to give back after ``store(in:)``.
  static var ownership: ValueOwnership { get }
  /// Whether values also fit places of another kind than ``valueKind``.
  static func accepts(_ kind: ValueKind) -> Bool
  /// Writes the value into a place that was found to fit.
  func store(in slot: ValueSlot) throws(InvocationError)
  /// Reads a value from a place that was found to fit.
  static func load(from slot: ValueSlot) throws(InvocationError) -> Self
  /// How the value's memory becomes a word, if storing and loading do no more than that.
  static var _word: _WordLayout? { get }
  /// Whether values are numbers of one word, which nobody owns.
  static var _isPlainWord: Bool { get }
}

/// What a stored value owns.
public enum ValueOwnership: UInt8, Hashable, Sendable {
  /// Nothing: the bytes are the value.
  case none
  /// One retain of an object.
  case object
  /// A C string of its own, to be freed.
  case cString
}

/// A value that may be missing: NULL, nil.
public protocol NullableCallValue: CallValue {}

extension CallValue {
  @inlinable
  public static var ownership: ValueOwnership { .none }

  @inlinable
  public static func accepts(_ kind: ValueKind) -> Bool { kind == valueKind }

  public static var _word: _WordLayout? { nil }

  @inlinable
  public static var _isPlainWord: Bool { false }
}

/// One place in a frame: where a value is written to and read from.
///
/// Valid only during the call of the method that receives it.
@safe
@frozen
public struct ValueSlot {
  @usableFromInline let slot: UnsafePointer<FWDSlot>
  @usableFromInline let frame: UnsafeMutableRawPointer
  /// The argument's index, or nil for the result.
  public let index: Int?

  // SAFETY: made only by this module, from a plan and a frame of that plan that both outlive it.
  @inlinable
  init(slot: UnsafePointer<FWDSlot>, frame: UnsafeMutableRawPointer, index: Int?) {
    unsafe self.slot = slot
    unsafe self.frame = frame
    self.index = index
  }

  /// The kind of the place.
  @inlinable
  public var kind: ValueKind { unsafe ValueKind(raw: slot.pointee.kind) }

  /// The size of the value in bytes.
  public var size: Int { unsafe Int(slot.pointee.size) }

  /// The eight bytes of a value in one word. Narrow values are written widened.
  @inlinable
  public var word: UInt64 {
    get { unsafe (frame + Int(slot.pointee.offset)).load(as: UInt64.self) }
    nonmutating set {
      unsafe (frame + Int(slot.pointee.offset)).storeBytes(of: newValue, as: UInt64.self)
    }
  }

  /// Writes the bytes of `value`, as many as the place takes at most.
  @inlinable
  public func store<Value>(bytesOf value: Value) {
    if MemoryLayout<Value>.size > 8, isWhole(MemoryLayout<Value>.size) {
      // SAFETY: the place takes that many bytes, in one piece.
      unsafe withUnsafePointer(to: value) {
        unsafe fwd_chunks_store(
          frame + Int(slot.pointee.offset), $0, MemoryLayout<Value>.size)
      }
      return
    }
    unsafe withUnsafeBytes(of: value) { bytes in
      // SAFETY: never more than the value has or the place takes.
      if let base = bytes.baseAddress {
        let size = unsafe min(bytes.count, Int(slot.pointee.size))
        unsafe fwd_slot_store(slot, frame, base, size)
      }
    }
  }

  /// Reads as many bytes as a `Value` has, or the place holds; what is beyond them is zero.
  ///
  /// - Safety: every bit pattern of these bytes must be a `Value`.
  @inlinable @unsafe
  public func load<Value>(bytesAs type: Value.Type) -> Value {
    if MemoryLayout<Value>.size > 8, isWhole(MemoryLayout<Value>.size) {
      return unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
        // SAFETY: as in `store`; all of the room that was asked for is filled.
        let base = unsafe memory.baseAddress.unsafelyUnwrapped
        unsafe fwd_chunks_load(
          base, frame + Int(slot.pointee.offset), MemoryLayout<Value>.size)
        return unsafe base.move()
      }
    }
    return unsafe withUnsafeTemporaryAllocation(
      byteCount: max(1, MemoryLayout<Value>.stride), alignment: MemoryLayout<Value>.alignment
    ) { bytes in
      unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
      // SAFETY: the buffer has at least one byte; never more is read than it or the place holds.
      let base = unsafe bytes.baseAddress.unsafelyUnwrapped
      let size = unsafe min(MemoryLayout<Value>.size, Int(slot.pointee.size))
      unsafe fwd_slot_load(slot, frame, base, size)
      return unsafe base.load(as: Value.self)
    }
  }

  /// Whether the place has so many bytes, and all in one piece.
  @inlinable
  func isWhole(_ size: Int) -> Bool {
    unsafe Int(slot.pointee.head) >= size
  }

  /// Whether the place holds no address.
  @inlinable
  public var isNull: Bool { word == 0 }
}
