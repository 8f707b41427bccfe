// Numbers at known places of bytes, with their lowest byte first. One function for each width: a generic one is not
// specialized for other modules.
extension [UInt8] {
  /// Two bytes, which are there.
  package func uint16(at offset: Int) -> UInt16 {
    precondition(offset >= 0 && offset + 2 <= count)
    // SAFETY (all): that many bytes are there.
    return unsafe withUnsafeBytes {
      unsafe UInt16(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }
  }

  /// Four bytes, which are there.
  package func uint32(at offset: Int) -> UInt32 {
    precondition(offset >= 0 && offset + 4 <= count)
    return unsafe withUnsafeBytes {
      unsafe UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
  }

  /// Eight bytes, which are there.
  package func uint64(at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset + 8 <= count)
    return unsafe withUnsafeBytes {
      unsafe UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }

  /// Writes two bytes over those that are there.
  package mutating func set(_ number: UInt16, at offset: Int) {
    precondition(offset >= 0 && offset + 2 <= count)
    unsafe withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt16.self)
    }
  }

  /// Writes four bytes over those that are there.
  package mutating func set(_ number: UInt32, at offset: Int) {
    precondition(offset >= 0 && offset + 4 <= count)
    unsafe withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt32.self)
    }
  }

  /// Writes eight bytes over those that are there.
  package mutating func set(_ number: UInt64, at offset: Int) {
    precondition(offset >= 0 && offset + 8 <= count)
    unsafe withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
  }
}
