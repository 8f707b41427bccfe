// SPDX-License-Identifier: Apache-2.0
import Invocations

// This folder contains all code of this module that handles memory: writing and reading bytes.

/// Bytes that are being written, up to a limit.
@frozen
package struct WireWriter: ~Copyable {
  @usableFromInline var storage: [UInt8] = []
  /// The zeros in front of the bytes, which the caller of ``bytes(behind:limit:_:)`` overwrites.
  @usableFromInline let room: Int
  @usableFromInline let limit: Int

  /// Makes an empty writer, which refuses more than `limit` bytes.
  package init(limit: Int, behind room: Int = 0) {
    (self.room, self.limit) = (room, limit)
    storage.reserveCapacity(room + 64)
    storage.append(contentsOf: repeatElement(0, count: room))
  }

  /// Returns the bytes that `body` writes, behind `room` zeros, which the caller overwrites.
  package static func bytes(
    behind room: Int = 0, limit: Int, _ body: (inout WireWriter) throws(WireError) -> Void
  ) throws(WireError) -> [UInt8] {
    var writer = WireWriter(limit: limit, behind: room)
    try body(&writer)
    return writer.storage
  }

  /// The number of bytes written so far.
  @inlinable
  package var count: Int { storage.count - room }

  @inlinable
  @inline(__always)
  func check(_ more: Int) throws(WireError) {
    if more > limit - count { throw WireError(.limit(limit, given: count + more), at: count) }
  }

  /// Appends a number, its lowest byte first.
  @inlinable
  @inline(__always)
  package mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(
    _ number: Number
  ) throws(WireError) {
    try check(MemoryLayout<Number>.size)
    unsafe withUnsafeBytes(of: number.littleEndian) { unsafe storage.append(contentsOf: $0) }
  }

  /// Overwrites as many bytes as a number has, which must exist.
  @inlinable
  @inline(__always)
  package mutating func set<Number: FixedWidthInteger & BitwiseCopyable>(
    _ number: Number, at offset: Int
  ) {
    precondition(offset >= 0)
    storage.set(number, at: room + offset)
  }

  /// Appends bytes unchanged.
  package mutating func append(_ bytes: [UInt8]) throws(WireError) {
    try check(bytes.count)
    storage.append(contentsOf: bytes)
  }

  /// Appends the number of bytes, and the bytes.
  mutating func append(
    counted bytes: some Collection<UInt8>, limit: Int
  ) throws(WireError) {
    let size = bytes.count
    guard size <= limit else { throw WireError(.limit(limit, given: size), at: count) }
    try append(UInt32(size))
    try check(size)
    storage.append(contentsOf: bytes)
  }

  /// Appends the numbers of a place, without the padding between them.
  mutating func append(
    _ place: Int, of call: borrowing Invocation, _ layout: NumberLayout
  ) throws(WireError) {
    try check(layout.packed)
    let start = storage.count
    storage.append(contentsOf: repeatElement(0, count: layout.packed))
    unsafe storage.withUnsafeMutableBytes { bytes in
      // SAFETY: the layout is that of the place, and there is room for its packed bytes.
      let to = unsafe bytes.baseAddress.unsafelyUnwrapped + start
      unsafe withUnsafeTemporaryAllocation(byteCount: layout.size, alignment: 16) { memory in
        let from = unsafe memory.baseAddress.unsafelyUnwrapped
        unsafe call.call.copyBytes(ofPlace: place, to: from)
        var position = 0
        for run in layout.runs {
          unsafe (to + position).copyMemory(from: from + run.offset, byteCount: run.count)
          position += run.count
        }
      }
    }
    // C code may have set a `Bool` to any byte.
    if let wrong = layout.wrongFlag(of: storage[start...]) {
      throw WireError(.notBool(storage[start + wrong]), at: start - room + wrong)
    }
  }

  /// A copy of the written bytes.
  package var bytes: [UInt8] { Array(storage[room...]) }

  /// Calls a closure with the written bytes.
  @inlinable @unsafe
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe storage.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[room...])) }
  }
}
