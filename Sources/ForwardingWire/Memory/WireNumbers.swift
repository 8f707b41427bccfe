// SPDX-License-Identifier: Apache-2.0
// Little-endian integers at offsets of an array. There is one function for each width, as a generic
// function is not specialized for other modules.
extension [UInt8] {
  /// Reads two bytes, which must exist.
  @inlinable
  package func uint16(at offset: Int) -> UInt16 {
    precondition(offset >= 0 && offset + 2 <= count)
    // SAFETY (all): the precondition checks that the bytes exist.
    return unsafe withUnsafeBytes {
      unsafe UInt16(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }
  }

  /// Reads four bytes, which must exist.
  @inlinable
  package func uint32(at offset: Int) -> UInt32 {
    precondition(offset >= 0 && offset + 4 <= count)
    return unsafe withUnsafeBytes {
      unsafe UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
  }

  /// Reads eight bytes, which must exist.
  @inlinable
  package func uint64(at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset + 8 <= count)
    return unsafe withUnsafeBytes {
      unsafe UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }

  /// Overwrites two bytes, which must exist.
  @inlinable
  package mutating func set(_ number: UInt16, at offset: Int) {
    precondition(offset >= 0 && offset + 2 <= count)
    unsafe withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt16.self)
    }
  }

  /// Overwrites four bytes, which must exist.
  @inlinable
  package mutating func set(_ number: UInt32, at offset: Int) {
    precondition(offset >= 0 && offset + 4 <= count)
    unsafe withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt32.self)
    }
  }

  /// Overwrites eight bytes, which must exist.
  @inlinable
  package mutating func set(_ number: UInt64, at offset: Int) {
    precondition(offset >= 0 && offset + 8 <= count)
    unsafe withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
  }
}
