// SPDX-License-Identifier: Apache-2.0
import CJournalShims
import ForwardingWire
import Foundation

/// A buffer with a part of a journal's file.
@safe
final class JournalWindow {
  // SAFETY: points to `capacity` bytes. The first `count` of them are those of the file from
  // `start` on.
  private var base: UnsafeMutableRawPointer
  private var capacity = 1 << 18
  private var start = 0
  private var count = 0
  let file: JournalFile
  /// Whether bytes are being read, so that no others may be loaded.
  private(set) var isLent = false

  init(_ file: JournalFile) {
    self.file = file
    unsafe base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { unsafe base.deallocate() }

  /// Loads bytes of the file.
  ///
  /// - Returns: false if the file ends before them.
  /// - Throws: ``JournalError/system(_:path:code:)`` if they cannot be read,
  ///   ``JournalError/inUse(path:)`` while bytes are lent to a reader.
  @inline(__always)
  func load(_ wanted: Int, at offset: Int) throws(JournalError) -> Bool {
    if offset >= start, offset + wanted <= start + count { return true }
    return try loadMore(wanted, at: offset)
  }

  /// Discards the buffered bytes, so that the next access reads the file again.
  func forget() { count = 0 }

  private func loadMore(_ wanted: Int, at offset: Int) throws(JournalError) -> Bool {
    guard try offset + wanted <= file.size else { return false }
    // A reader may refer to the buffered bytes.
    if isLent { throw .inUse(path: file.path) }
    // At the end of the file, and at each damage, bytes are discarded and few are needed.
    let most = count == 0 ? 4096 : capacity
    // The buffer counts as empty until the read succeeds.
    count = 0
    if wanted > capacity {
      unsafe base.deallocate()
      capacity = wanted
      unsafe base = .allocate(byteCount: capacity, alignment: 16)
    }
    start = offset
    // SAFETY: `capacity` is at least `wanted` and 4096.
    count = try unsafe file.read(
      UnsafeMutableRawBufferPointer(start: base, count: max(wanted, most)), at: offset,
      wanting: wanted)
    return wanted <= count
  }

  /// Writes bytes of the file again. After a failed sync, the system may have forgotten that they are
  /// not on the disk.
  func rewrite(_ part: Range<Int>) throws(JournalError) {
    for offset in stride(from: part.lowerBound, to: part.upperBound, by: capacity) {
      let wanted = min(capacity, part.upperBound - offset)
      guard try load(wanted, at: offset) else {
        throw .system("read", path: file.path, code: EIO)
      }
      // SAFETY: the bytes are buffered.
      try unsafe file.put(
        UnsafeRawBufferPointer(start: base + (offset - start), count: wanted), at: offset)
    }
  }

  /// Lends `body` a reader of buffered bytes.
  @inline(__always)
  func read<Result>(
    _ wanted: Int, at offset: Int, _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(WireError) -> Result {
    precondition(offset >= start && offset + wanted <= start + count)
    // SAFETY: the precondition checked that the bytes are buffered. `isLent` prevents that others
    // are loaded in their place while `body` reads.
    let wasLent = isLent
    isLent = true
    defer { isLent = wasLent }
    var reader = unsafe WireReader(
      UnsafeRawBufferPointer(start: base + (offset - start), count: wanted))
    return try body(&reader)
  }

  /// Returns eight buffered bytes as a little-endian integer.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    precondition(offset >= start && offset + 8 <= start + count)
    // SAFETY: the precondition checked that the bytes are buffered.
    return unsafe UInt64(
      littleEndian: base.loadUnaligned(fromByteOffset: offset - start, as: UInt64.self))
  }

  /// Returns the CRC-32C of buffered bytes.
  @inline(__always)
  func checksum(_ wanted: Int, at offset: Int) -> UInt32 {
    precondition(offset >= start && offset + wanted <= start + count)
    return unsafe fwd_crc32c(0, base + (offset - start), wanted)
  }
}
