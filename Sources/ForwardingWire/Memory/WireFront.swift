// What stands in front of a call's arguments: it is compared in one piece, as each name that is looked up by itself has
// to be copied before.
extension WireReader {
  /// The number of bytes in front of a call's arguments, if it is all of the bytes and has the version; nil if there is
  /// anything wrong with it.
  func front(version: UInt16) -> Int? {
    guard offset == 0, end >= 12, let base = unsafe base else { return nil }
    // SAFETY: that many bytes are there.
    let counts = unsafe UInt64(littleEndian: base.loadUnaligned(as: UInt64.self))
    let size = unsafe UInt32(littleEndian: (base + 8).loadUnaligned(as: UInt32.self))
    guard counts & 0xffff == UInt64(version) else { return nil }
    let texts = counts >> 16 & 0xffff + counts >> 32 & 0xffff + counts >> 48
    return 12 + Int(texts) + Int(size) == end ? 12 + Int(texts) : nil
  }

  /// A number for so many bytes in front of the arguments, but for the number of bytes that those have. Nothing is
  /// drawn for it, as what is found by it is placed by this process alone.
  func hash(ofFront count: Int) -> Int {
    precondition(12 <= count && count <= end)
    // SAFETY: that many bytes are there.
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

  /// Goes on behind what stands in front of the arguments, if it is this, whatever the number of their bytes.
  mutating func skip(front: [UInt8]) -> Bool {
    let isThis = unsafe front.withUnsafeBytes { front in
      let (other, count) = unsafe (front.baseAddress.unsafelyUnwrapped, front.count)
      guard offset == 0, 12 <= count, count <= end, let base = unsafe base else { return false }
      // SAFETY: both have that many bytes.
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
