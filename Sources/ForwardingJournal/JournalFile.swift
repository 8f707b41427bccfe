import CJournalShims
import ForwardingWire
import Invocations

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// The one file of this module that handles memory and descriptors.

/// The CRC-32C of bytes.
enum JournalChecksum {
  /// Of a part of what was written.
  @inline(__always)
  static func of(_ writer: borrowing WireWriter, _ part: Range<Int>) -> UInt32 {
    unsafe writer.withBytes { bytes in
      // SAFETY: within the bytes that the writer lends.
      precondition(part.lowerBound >= 0 && part.upperBound <= bytes.count)
      return unsafe fwd_crc32c(
        0, bytes.baseAddress.map { unsafe $0 + part.lowerBound }, part.count)
    }
  }
}

/// A file, by its descriptor, which is closed at the end.
@safe
final class JournalFile: Sendable {
  let path: String
  private let descriptor: Int32
  // SAFETY: set by who opens the file, before anybody else knows it.
  private nonisolated(unsafe) var lockedIn: OwnProcess?

  enum Purpose { case reading, appending, replacing }

  /// Opens a file; to append, it is made where there is none.
  init(_ path: String, for purpose: Purpose) throws(JournalError) {
    self.path = path
    let flags =
      switch purpose {
      case .reading: O_RDONLY
      case .appending: O_RDWR | O_CREAT | O_APPEND
      // Not cut before it is locked: it may be somebody's journal.
      case .replacing: O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW
      }
    descriptor = unsafe open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw .system("opened", path: path, code: errno) }
    guard facts.st_mode & S_IFMT == S_IFREG else {
      throw .system("opened", path: path, code: EINVAL)
    }
  }

  deinit {
    unlock()
    close(descriptor)
  }

  private var facts: stat {
    var facts = stat()
    unsafe fstat(descriptor, &facts)
    return facts
  }

  /// How long the file is now.
  var size: Int { Int(facts.st_size) }
  /// What its file system knows it by.
  var number: UInt64 { UInt64(facts.st_ino) }

  /// The numbers of its file system, as Linux takes them apart.
  var device: (major: UInt32, minor: UInt32) {
    let number = UInt64(truncatingIfNeeded: facts.st_dev)
    return (
      UInt32((number >> 8 & 0xFFF) | (number >> 32 & 0xFFFF_F000)),
      UInt32((number & 0xFF) | (number >> 12 & 0xFFFF_FF00))
    )
  }

  /// Whether a path leads to this file.
  func isAt(_ path: String) -> Bool {
    var other = stat()
    let own = facts
    return unsafe stat(path, &other) == 0 && other.st_ino == own.st_ino
      && other.st_dev == own.st_dev
  }

  /// Makes this the only one that writes the file.
  func lock() throws(JournalError) {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      guard code == EWOULDBLOCK else { throw .system("locked", path: path, code: code) }
      throw .locked(path: path, holder: holder)
    }
    unsafe lockedIn = OwnProcess()
  }

  /// Lets others write the file, also while a child has the descriptor, which does not let go of its parent's lock.
  func unlock() { if unsafe lockedIn?.isForked == false { flock(descriptor, LOCK_UN) } }

  /// Appends bytes by one `write`. What it leaves is written by another one; if that fails, the file is cut back
  /// to `end`, where it ended before.
  func append(_ writer: borrowing WireWriter, at end: Int) throws(JournalError) {
    let code = unsafe writer.withBytes { bytes -> Int32 in
      var written = 0
      while written < bytes.count {
        // SAFETY: within the bytes that the writer lends.
        let count = unsafe write(
          descriptor, bytes.baseAddress.unsafelyUnwrapped + written, bytes.count - written)
        if count > 0 {
          written += count
        } else if count == 0 || errno != EINTR {
          return count == 0 ? EIO : errno
        }
      }
      return 0
    }
    if code == 0 { return }
    try cut(to: end)
    throw .system("written", path: path, code: code)
  }

  /// Cuts the file.
  func cut(to size: Int) throws(JournalError) {
    while ftruncate(descriptor, off_t(size)) != 0 {
      if errno != EINTR { throw .system("cut", path: path, code: errno) }
    }
  }

  /// Waits until what was written is on the disk.
  func sync() throws(JournalError) {
    while fdatasync(descriptor) != 0 {
      if errno != EINTR { throw .system("synchronized", path: path, code: errno) }
    }
  }

  /// Waits until the names in the folder of a path are on the disk.
  static func syncFolder(of path: String) throws(JournalError) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A file system without such names does not open a folder for that, or has nothing to wait for.
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    while fsync(descriptor) != 0 {
      let code = errno
      if [EINVAL, ENOTSUP, EROFS].contains(code) { return }
      if code != EINTR { throw .system("synchronized", path: folder, code: code) }
    }
  }

  /// Reads into memory; fewer bytes at the end of the file.
  fileprivate func read(_ memory: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    var count = 0
    while count < memory.count {
      // SAFETY: within the memory that was lent.
      let more = unsafe pread(
        descriptor, memory.baseAddress.unsafelyUnwrapped + count, memory.count - count,
        off_t(offset + count))
      if more < 0, errno == EINTR { continue }
      if more <= 0 { break }
      count += more
    }
    return count
  }

  /// Renames a file, over the one that has the name.
  static func move(_ old: String, to new: String) throws(JournalError) {
    if unsafe rename(old, new) != 0 { throw .system("renamed", path: old, code: errno) }
  }

  static func name(_ old: String, as new: String) throws(JournalError) {
    if unsafe link(old, new) != 0 { throw .system("linked", path: new, code: errno) }
  }

  static func remove(_ path: String) { unsafe unlink(path) }

  static func text(ofError code: Int32) -> String {
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }

  /// The nanoseconds since 1970 began.
  static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// A part of a file, or bytes, in memory: what is read of a journal.
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

  /// Gets bytes of the file into memory; false if it has not that many.
  @inline(__always)
  func load(_ wanted: Int, at offset: Int) -> Bool {
    if offset >= start, offset + wanted <= start + count { return true }
    return loadMore(wanted, at: offset)
  }

  /// Reads the file anew, when it is asked next.
  func forget() { if file != nil { count = 0 } }

  private func loadMore(_ wanted: Int, at offset: Int) -> Bool {
    guard let file, offset + wanted <= file.size else { return false }
    if wanted > capacity {
      unsafe base.deallocate()
      capacity = wanted
      unsafe base = .allocate(byteCount: capacity, alignment: 16)
    }
    start = offset
    count = unsafe file.read(
      UnsafeMutableRawBufferPointer(start: base, count: capacity), at: offset)
    return wanted <= count
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

  /// The checksum of bytes that are in memory.
  @inline(__always)
  func checksum(_ wanted: Int, at offset: Int) -> UInt32 {
    precondition(offset >= start && offset + wanted <= start + count)
    return unsafe fwd_crc32c(0, base + (offset - start), wanted)
  }
}
