public import CForwardingShims

/// One place in a frame: where a value is written to and read from.
///
/// A type of your own gets to a place as its carrier:
///
/// ```swift
/// enum Mode: Int32, CarriedValue { case read, write }
/// try functions.register("next") { (mode: Mode) in mode == .read ? Mode.write : .read }
/// try functions.call("next", Mode.read, returning: Mode.self)  // write
/// ```
///
/// It points into memory that may be gone when the call is over, so nothing can be done with one
/// outside of this package.
@safe
@frozen
public struct ValueSlot {
  @usableFromInline let slot: UnsafePointer<FWDSlot>
  @usableFromInline let frame: UnsafeMutableRawPointer
  /// The argument's index, or nil for the result.
  @usableFromInline let index: Int?

  // SAFETY: made only by this module, from a plan and a frame of that plan that both outlive it.
  @inlinable
  init(slot: UnsafePointer<FWDSlot>, frame: UnsafeMutableRawPointer, index: Int?) {
    unsafe self.slot = slot
    unsafe self.frame = frame
    self.index = index
  }

  /// The kind of the place.
  @inlinable
  var kind: ValueKind { unsafe ValueKind(raw: slot.pointee.kind) }

  /// The size of the value in bytes.
  var size: Int { unsafe Int(slot.pointee.size) }

  /// The eight bytes of a value in one word. Narrow values are written widened.
  @inlinable
  var word: UInt64 {
    get { unsafe (frame + Int(slot.pointee.offset)).load(as: UInt64.self) }
    nonmutating set {
      unsafe (frame + Int(slot.pointee.offset)).storeBytes(of: newValue, as: UInt64.self)
    }
  }

  /// Swift's own text, in a place that was made for it. What is set is the frame's.
  var text: String? {
    // SAFETY: such a place holds the address of a String, or nothing.
    get { unsafe UnsafePointer<String>(bitPattern: UInt(word)).map { unsafe $0.pointee } }
    nonmutating set {
      word = newValue.map { unsafe UInt64(UInt(bitPattern: AnyValue.box($0))) } ?? 0
    }
  }

  /// Writes the bytes of `value`, as many as the place takes at most.
  @inlinable
  func store<Value>(bytesOf value: Value) {
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
  func load<Value>(bytesAs type: Value.Type) -> Value {
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
  var isNull: Bool { word == 0 }
}
