import CJournalShims
import ForwardingWire

/// The part of a journal's file, or of bytes, that is in memory.
@safe
final class JournalWindow {
  // SAFETY: of `capacity` bytes, the first `count` of which are those of the file from `start` on.
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

  /// A window on bytes in place of a file.
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

  /// How long the file is now.
  var size: Int { file?.size ?? count }

  /// Gets bytes of the file into memory; false if it has not that many. Throws if they cannot be read.
  @inline(__always)
  func load(_ wanted: Int, at offset: Int) throws(JournalError) -> Bool {
    if offset >= start, offset + wanted <= start + count { return true }
    return try loadMore(wanted, at: offset)
  }

  /// Reads the file anew, when it is asked next.
  func forget() { if file != nil { count = 0 } }

  private func loadMore(_ wanted: Int, at offset: Int) throws(JournalError) -> Bool {
    guard let file, offset + wanted <= file.size else { return false }
    // A reader may point at the bytes that are there.
    if isLent { throw .inUse(path: file.path) }
    // Until the bytes are there, none are.
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

  /// Where the first byte is that is not zero, at or behind an offset; the size where all are. Holes are not read.
  func firstNonZero(from offset: Int) throws(JournalError) -> Int {
    var offset = offset
    while offset < size {
      if offset >= start + count || offset < start {
        offset = file?.data(from: offset) ?? offset
        guard offset < size, try load(1, at: offset) else { break }
      }
      let end = start + count
      while offset + 8 <= end,
        // SAFETY: within the bytes of the file that are in memory.
        unsafe base.loadUnaligned(fromByteOffset: offset - start, as: UInt64.self) == 0
      {
        offset += 8
      }
      while offset < end {
        // SAFETY: as above.
        if unsafe base.load(fromByteOffset: offset - start, as: UInt8.self) != 0 { return offset }
        offset += 1
      }
    }
    return size
  }

  /// Lends a reader of bytes that are in memory.
  @inline(__always)
  func read<Result>(
    _ wanted: Int, at offset: Int, _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(WireError) -> Result {
    precondition(offset >= start && offset + wanted <= start + count)
    // SAFETY: the bytes are there, and a reader that is asked for more while `body` reads refuses.
    let wasLent = isLent
    isLent = true
    defer { isLent = wasLent }
    var reader = unsafe WireReader(
      UnsafeRawBufferPointer(start: base + (offset - start), count: wanted))
    return try body(&reader)
  }

  /// Eight bytes that are in memory, the lowest first.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    precondition(offset >= start && offset + 8 <= start + count)
    // SAFETY: as was just asked.
    return unsafe UInt64(
      littleEndian: base.loadUnaligned(fromByteOffset: offset - start, as: UInt64.self))
  }

  /// The checksum of bytes that are in memory.
  @inline(__always)
  func checksum(_ wanted: Int, at offset: Int) -> UInt32 {
    precondition(offset >= start && offset + wanted <= start + count)
    return unsafe fwd_crc32c(0, base + (offset - start), wanted)
  }
}
