// SPDX-License-Identifier: Apache-2.0
import CJournalShims
import ForwardingWire

/// A buffer with a part of a journal's file, or of bytes in memory.
@safe
final class JournalWindow {
  // SAFETY: points to `capacity` bytes. The first `count` of them are those of the file from
  // `start` on.
  private var base: UnsafeMutableRawPointer
  private(set) var capacity: Int
  private var start = 0
  private var count = 0
  private let file: JournalFile?
  /// Whether bytes are being read, so that no others may be loaded.
  private(set) var isLent = false

  init(_ file: JournalFile) {
    self.file = file
    capacity = 1 << 18
    unsafe base = .allocate(byteCount: capacity, alignment: 16)
  }

  /// Makes a window over bytes in place of a file.
  init(_ bytes: [UInt8]) {
    file = nil
    capacity = max(1, bytes.count)
    count = bytes.count
    unsafe base = .allocate(byteCount: capacity, alignment: 16)
    unsafe bytes.withUnsafeBytes {
      if let from = $0.baseAddress { unsafe base.copyMemory(from: from, byteCount: $0.count) }
    }
  }

  deinit { unsafe base.deallocate() }

  /// The current size of the file.
  var size: Int { get throws(JournalError) { try file?.size ?? count } }

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
  func forget() { if file != nil { count = 0 } }

  private func loadMore(_ wanted: Int, at offset: Int) throws(JournalError) -> Bool {
    guard let file, try offset + wanted <= file.size else { return false }
    // A reader may refer to the buffered bytes.
    if isLent { throw .inUse(path: file.path) }
    // The buffer counts as empty until the read succeeds.
    count = 0
    if wanted > capacity {
      unsafe base.deallocate()
      capacity = wanted
      unsafe base = .allocate(byteCount: capacity, alignment: 16)
    }
    start = offset
    count = try unsafe file.read(
      UnsafeMutableRawBufferPointer(start: base, count: capacity), at: offset, wanting: wanted)
    return wanted <= count
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
