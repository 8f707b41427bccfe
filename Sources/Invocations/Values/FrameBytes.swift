import CForwardingShims

/// Values of a frame as bytes.
enum FrameBytes {
  // SAFETY (all): `slot` belongs to the plan that `frame` was made for.

  @unsafe
  static func read(_ slot: UnsafePointer<FWDSlot>, _ frame: UnsafeRawPointer) -> [UInt8] {
    let size = unsafe Int(slot.pointee.size)
    guard size > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      unsafe fwd_slot_load(slot, frame, buffer.baseAddress.unsafelyUnwrapped, size)
      for hole in unsafe holes(of: slot.pointee.kind) { unsafe buffer[hole].update(repeating: 0) }
      count = size
    }
  }

  /// The bytes of a number that are padding: a `long double` has ten of sixteen, and what lies in the
  /// others is whatever the stack held before.
  private static func holes(of kind: FWDKind) -> [Range<Int>] {
    #if arch(x86_64)
      switch kind {
      case .longDouble: return [10..<16]
      case .complexLongDouble: return [10..<16, 26..<32]
      default: return []
      }
    #else
      return []
    #endif
  }

  /// Writes `bytes`, as many as the slot has.
  @unsafe
  static func write(
    _ bytes: [UInt8], _ slot: UnsafePointer<FWDSlot>, _ frame: UnsafeMutableRawPointer
  ) {
    guard !bytes.isEmpty else { return }
    unsafe fwd_slot_store_raw(slot, frame, bytes)
  }

  @unsafe
  static func hex(
    _ slot: UnsafePointer<FWDSlot>, _ frame: UnsafeRawPointer, limit: Int
  ) -> String {
    let digits = Array("0123456789abcdef")
    let bytes = unsafe read(slot, frame)
    let shown = bytes.prefix(limit).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return "{" + String(shown) + (bytes.count > limit ? "…" : "") + "}"
  }
}
