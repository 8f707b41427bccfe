// SPDX-License-Identifier: Apache-2.0
// Little-endian integers at offsets of an array.
extension [UInt8] {
  @inlinable
  @inline(__always)
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    precondition(offset >= 0 && offset + MemoryLayout<Number>.size <= count)
    // SAFETY: the precondition checks that the bytes exist.
    return unsafe withUnsafeBytes {
      unsafe Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
  }

  /// Reads two bytes, which must exist.
  @inlinable
  package func uint16(at offset: Int) -> UInt16 { number(at: offset) }

  /// Reads four bytes, which must exist.
  @inlinable
  package func uint32(at offset: Int) -> UInt32 { number(at: offset) }

  /// Reads eight bytes, which must exist.
  @inlinable
  package func uint64(at offset: Int) -> UInt64 { number(at: offset) }

  /// Overwrites as many bytes as a number has, which must exist.
  @inlinable
  @inline(__always)
  package mutating func set<Number: FixedWidthInteger & BitwiseCopyable>(
    _ number: Number, at offset: Int
  ) {
    precondition(offset >= 0 && offset + MemoryLayout<Number>.size <= count)
    // SAFETY: the precondition checks that the bytes exist.
    unsafe withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    }
  }
}
