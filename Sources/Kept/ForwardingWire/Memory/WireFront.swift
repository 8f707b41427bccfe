// SPDX-License-Identifier: Apache-2.0
// The front of a call is all that precedes its arguments. It is compared as one piece, as looking
// up a single name requires a copy of it.
extension WireReader {
  /// The number of bytes in front of the arguments; nil if the lengths do not add up to all bytes,
  /// or the version differs.
  func front(version: UInt16) -> Int? {
    guard offset == 0, end >= 12, let base = unsafe base else { return nil }
    // SAFETY: there are at least 12 bytes.
    let counts = unsafe UInt64(littleEndian: base.loadUnaligned(as: UInt64.self))
    let size = unsafe UInt32(littleEndian: (base + 8).loadUnaligned(as: UInt32.self))
    guard counts & 0xffff == UInt64(version) else { return nil }
    let texts = counts >> 16 & 0xffff + counts >> 32 & 0xffff + counts >> 48
    return 12 + Int(texts) + Int(size) == end ? 12 + Int(texts) : nil
  }

  /// A hash of the first `count` bytes, without the length of the arguments. It needs no secret, as
  /// only this process adds to the table.
  func hash(ofFront count: Int) -> Int {
    precondition(12 <= count && count <= end)
    // SAFETY: there are at least `count` bytes.
    let base = unsafe base.unsafelyUnwrapped
    var hash = unsafe base.loadUnaligned(as: UInt64.self)
    var offset = 12
    while offset + 8 <= count {
      hash = unsafe Self.mixed(hash, (base + offset).loadUnaligned(as: UInt64.self))
      offset += 8
    }
    while offset < count {
      hash = unsafe Self.mixed(hash, UInt64((base + offset).load(as: UInt8.self)))
      offset += 1
    }
    return Int(truncatingIfNeeded: hash >> 32)
  }

  @inline(__always)
  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 29
  }

  /// Skips the front of a call if it equals `front`, apart from the length of the arguments.
  mutating func skip(front: [UInt8]) -> Bool {
    let isThis = unsafe front.withUnsafeBytes { front in
      let (other, count) = unsafe (front.baseAddress.unsafelyUnwrapped, front.count)
      guard offset == 0, 12 <= count, count <= end, let base = unsafe base else { return false }
      // SAFETY: both have at least `count` bytes.
      if unsafe base.loadUnaligned(as: UInt64.self) != other.loadUnaligned(as: UInt64.self) {
        return false
      }
      var at = 12
      while at + 8 <= count {
        let word = unsafe (base + at).loadUnaligned(as: UInt64.self)
        if unsafe word != (other + at).loadUnaligned(as: UInt64.self) { return false }
        at += 8
      }
      while at < count {
        let byte = unsafe (base + at).load(as: UInt8.self)
        if unsafe byte != (other + at).load(as: UInt8.self) { return false }
        at += 1
      }
      return true
    }
    if isThis { offset = front.count }
    return isThis
  }
}
