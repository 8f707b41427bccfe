// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import TypeEncodings

/// One place of a frame, which a value is written to and read from.
///
/// Values of your own types are stored as their carriers:
///
/// ```swift
/// enum Mode: Int32, CarriedValue { case read, write }
/// try functions.register("next") { (mode: Mode) in mode == .read ? Mode.write : .read }
/// try functions.call("next", Mode.read, returning: Mode.self)  // write
/// ```
///
/// A slot points into the memory of a call, which may be freed after the call. Code outside of this
/// package cannot read or write one.
@safe
@frozen
public struct ValueSlot {
  @usableFromInline let slot: UnsafePointer<FWDSlot>
  @usableFromInline let frame: UnsafeMutableRawPointer
  /// The argument's index, or nil for the result.
  @usableFromInline let index: Int?

  // SAFETY: made only by this module, from a plan and a frame of that plan that both outlive the
  // slot.
  @inlinable
  init(slot: UnsafePointer<FWDSlot>, frame: UnsafeMutableRawPointer, index: Int?) {
    unsafe self.slot = slot
    unsafe self.frame = frame
    self.index = index
  }

  /// The number of the place in its plan: 0 is the result, and `i + 1` is argument `i`.
  @inlinable var place: Int { index.map { $0 + 1 } ?? 0 }

  /// The kind of the place.
  @inlinable
  var kind: FWDKind { unsafe slot.pointee.kind }

  /// The size of the value in bytes.
  var size: Int { unsafe Int(slot.pointee.size) }

  /// The eight bytes of a value in one word. Narrow values are stored widened.
  @inlinable
  var word: UInt64 {
    get { unsafe (frame + Int(slot.pointee.offset)).load(as: UInt64.self) }
    nonmutating set {
      unsafe (frame + Int(slot.pointee.offset)).storeBytes(of: newValue, as: UInt64.self)
    }
  }

  /// The Swift text of a place for a `String`. The frame owns the text that is set.
  var text: String? {
    // SAFETY: such a place holds the address of a `String`, or zero.
    get { unsafe UnsafePointer<String>(bitPattern: UInt(word)).map { unsafe $0.pointee } }
    nonmutating set {
      word = newValue.map { unsafe UInt64(UInt(bitPattern: AnyValue.box($0))) } ?? 0
    }
  }

  /// Writes the bytes of `value`, at most as many as the place has.
  @inlinable
  func store<Value>(bytesOf value: Value) {
    if MemoryLayout<Value>.size > 8, isWhole(MemoryLayout<Value>.size) {
      // SAFETY: the place has that many contiguous bytes.
      unsafe withUnsafePointer(to: value) {
        unsafe fwd_chunks_store(
          frame + Int(slot.pointee.offset), $0, MemoryLayout<Value>.size)
      }
      return
    }
    unsafe withUnsafeBytes(of: value) { bytes in
      // SAFETY: the size is neither more than the value has nor more than the place has.
      if let base = bytes.baseAddress {
        let size = unsafe min(bytes.count, Int(slot.pointee.size))
        unsafe fwd_slot_store(slot, frame, base, size)
      }
    }
  }

  /// Reads the bytes of a `Value`, at most as many as the place has. Missing bytes are zero.
  ///
  /// - Safety: every bit pattern of these bytes must be a valid `Value`.
  @inlinable @unsafe
  func load<Value>(bytesAs type: Value.Type) -> Value {
    if MemoryLayout<Value>.size > 8, isWhole(MemoryLayout<Value>.size) {
      return unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
        // SAFETY: the place has that many contiguous bytes, and they fill the whole allocation.
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
      // SAFETY: the buffer has at least one byte, and the size exceeds neither the buffer nor the
      // place.
      let base = unsafe bytes.baseAddress.unsafelyUnwrapped
      let size = unsafe min(MemoryLayout<Value>.size, Int(slot.pointee.size))
      unsafe fwd_slot_load(slot, frame, base, size)
      return unsafe base.load(as: Value.self)
    }
  }

  /// Whether the place has that many contiguous bytes.
  @inlinable
  func isWhole(_ size: Int) -> Bool {
    unsafe Int(slot.pointee.head) >= size
  }

  /// Whether the place holds no address.
  @inlinable
  var isNull: Bool { word == 0 }
}

// The value of a place as bytes and as an object.
extension ValueSlot {
  /// The object that the place refers to. Setting it does not retain the object.
  var object: AnyObject? {
    get {
      unsafe UnsafeRawPointer(bitPattern: UInt(word)).map {
        unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
      }
    }
    nonmutating set { word = OwnedWord(newValue, isOwned: false).word }
  }

  /// Stores an object, which the frame then owns.
  @usableFromInline
  func keep(_ object: AnyObject) { word = OwnedWord(object).word }

  /// The bytes of the value, exactly as many as its type has.
  var bytes: [UInt8] {
    guard size > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      unsafe fwd_slot_load(slot, frame, buffer.baseAddress.unsafelyUnwrapped, size)
      for hole in holes { unsafe buffer[hole].update(repeating: 0) }
      count = size
    }
  }

  /// Writes the bytes of a value, exactly as many as its type has.
  ///
  /// - Safety: `bytes` must have that many bytes, and they must be a valid value of the type.
  @unsafe
  func store(bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    unsafe fwd_slot_store_raw(slot, frame, bytes)
  }

  /// The padding bytes of a number: a `long double` uses 10 of its 16 bytes, and the others hold
  /// old bytes of the stack.
  private var holes: [Range<Int>] {
    guard Machine.own == .x86_64Linux else { return [] }
    switch kind {
    case .longDouble: return [10..<16]
    case .complexLongDouble: return [10..<16, 26..<32]
    default: return []
    }
  }
}
