// SPDX-License-Identifier: Apache-2.0
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

// Only this file handles descriptors in this module, and only `JournalWindow.swift` raw memory.

/// The CRC-32C checksum.
enum JournalChecksum {
  /// The checksum of a part of the written bytes.
  @inline(__always)
  static func of(_ writer: borrowing WireWriter, _ part: Range<Int>) -> UInt32 {
    unsafe writer.withBytes { bytes in
      // SAFETY: the range is within the bytes that the writer lends.
      precondition(part.lowerBound >= 0 && part.upperBound <= bytes.count)
      return unsafe fwd_crc32c(
        0, bytes.baseAddress.map { unsafe $0 + part.lowerBound }, part.count)
    }
  }
}

/// An open file, which is closed at the end of this object's life.
@safe
final class JournalFile: Sendable {
  let path: String
  private let descriptor: Int32
  /// The device and inode of the file.
  private let identity: FWDFileIdentity
  // SAFETY: written only by the function that opens the file, before another thread has it.
  private nonisolated(unsafe) var lockedIn: ForkGuard?

  enum Purpose { case reading, appending, replacing, creating }

  /// Opens a file. For appending it is created if it does not exist.
  init(_ path: String, for purpose: Purpose) throws(JournalError) {
    self.path = path
    let flags =
      switch purpose {
      case .reading: O_RDONLY
      case .appending: O_RDWR | O_CREAT
      // Truncated only after it is locked: until then it may be another journal.
      case .replacing: O_RDWR | O_CREAT | O_NOFOLLOW
      case .creating: O_RDWR | O_CREAT | O_EXCL
      }
    descriptor = unsafe open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw .system("opened", path: path, code: errno) }
    identity = fwd_identity_of_descriptor(descriptor)
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

  /// The current size of the file, in bytes.
  var size: Int { Int(facts.st_size) }
  /// The inode number.
  var number: UInt64 { UInt64(facts.st_ino) }

  /// The major and minor number of the device, as Linux encodes them.
  var device: (major: UInt32, minor: UInt32) {
    let number = UInt64(truncatingIfNeeded: facts.st_dev)
    return (
      UInt32((number >> 8 & 0xFFF) | (number >> 32 & 0xFFFF_F000)),
      UInt32((number & 0xFF) | (number >> 12 & 0xFFFF_FF00))
    )
  }

  /// Whether a path leads to this file. Does not query its times: the next sync would write them.
  func isAt(_ path: String) -> Bool {
    let other = unsafe fwd_identity_at(path)
    return other.number != 0 && other.number == identity.number && other.device == identity.device
  }

  /// Acquires the exclusive lock for writing.
  func lock() throws(JournalError) {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      guard code == EWOULDBLOCK else { throw .system("locked", path: path, code: code) }
      throw .locked(path: path, holder: holder)
    }
    unsafe lockedIn = ForkGuard()
  }

  /// Releases the lock, even if a forked child has the descriptor. A child never releases it.
  func unlock() { if unsafe lockedIn?.isForked == false { flock(descriptor, LOCK_UN) } }

  /// Writes bytes at `end`, the end of the records, by one `write`, and continues if the write is
  /// partial. On an error, cuts the file back to `end`.
  func append(_ writer: borrowing WireWriter, at end: Int) throws(JournalError) {
    let code = unsafe writer.withBytes { bytes -> Int32 in
      var written = 0
      while written < bytes.count {
        // SAFETY: the range is within the bytes that the writer lends.
        let count = unsafe pwrite(
          descriptor, bytes.baseAddress.unsafelyUnwrapped + written, bytes.count - written,
          off_t(end + written))
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

  /// Truncates the file.
  func cut(to size: Int) throws(JournalError) {
    while ftruncate(descriptor, off_t(size)) != 0 {
      if errno != EINTR { throw .system("cut", path: path, code: errno) }
    }
  }

  /// Waits until the written bytes are on the disk.
  func sync() throws(JournalError) {
    while fdatasync(descriptor) != 0 {
      if errno != EINTR { throw .system("synchronized", path: path, code: errno) }
    }
  }

  /// Waits until the names in the folder of a path are on the disk.
  static func syncFolder(of path: String) throws(JournalError) {
    try JournalFolder(of: path).sync()
  }

  /// Reads into memory: at least `wanted` bytes, unless the file ends before them.
  ///
  /// An error is never taken for the end of the file. An error after the wanted bytes is ignored:
  /// the next read that wants these bytes gets it again.
  func read(
    _ memory: UnsafeMutableRawBufferPointer, at offset: Int, wanting wanted: Int
  ) throws(JournalError) -> Int {
    var count = 0
    while count < memory.count {
      // SAFETY: the range is within the memory that was lent.
      let more = unsafe pread(
        descriptor, memory.baseAddress.unsafelyUnwrapped + count, memory.count - count,
        off_t(offset + count))
      if more > 0 {
        count += more
        continue
      }
      let code = more < 0 ? errno : EIO
      if more < 0, code == EINTR { continue }
      if count >= wanted || (more == 0 && offset + count >= size) { break }
      throw .system("read", path: path, code: code)
    }
    return count
  }

  /// The offset of the data after a hole; `offset` itself if the file system cannot tell.
  func data(from offset: Int) -> Int {
    let found = lseek(descriptor, off_t(offset), Self.seekData)
    if found >= offset { return Int(found) }
    return errno == ENXIO ? size : offset
  }

  #if os(Linux)
    // SEEK_DATA, which Glibc's headers define only for _GNU_SOURCE.
    private static let seekData: Int32 = 3
  #else
    private static let seekData = SEEK_DATA
  #endif

  /// Whether the file begins with all the bytes of another one.
  func begins(as other: JournalFile) throws(JournalError) -> Bool {
    let size = other.size
    guard size <= self.size else { return false }
    let (own, others) = (JournalWindow(self), JournalWindow(other))
    var offset = 0
    while offset < size {
      let count = min(own.capacity, size - offset)
      guard try own.load(count, at: offset), try others.load(count, at: offset) else {
        return false
      }
      if own.checksum(count, at: offset) != others.checksum(count, at: offset) { return false }
      offset += count
    }
    return true
  }

  /// The names in a folder.
  static func names(in folder: String) throws(JournalError) -> [String] {
    guard let stream = unsafe opendir(folder) else {
      throw .system("listed", path: folder, code: errno)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      // Only errno distinguishes the end from an error.
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      // SAFETY: a zero-terminated string within the entry, valid until the next readdir.
      names.append(
        unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
        })
    }
    if errno != 0 { throw .system("listed", path: folder, code: errno) }
    return names
  }

  /// Renames a file, and replaces a file that has the new name.
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

  /// The current time in nanoseconds since 1970.
  static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// A folder whose names are to be synced. It is opened before the names change, because opening
/// fails if the process has no descriptors left.
@safe
final class JournalFolder {
  private let path: String
  private let descriptor: Int32

  /// Opens the folder of a path.
  init(of file: String) throws(JournalError) {
    path = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
    descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // Some file systems have no folders to sync, and a folder may be unreadable: no error.
    let code = errno
    guard descriptor >= 0 || [EACCES, EPERM, EINVAL, EISDIR, ENOTSUP].contains(code) else {
      throw .system("opened", path: path, code: code)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Waits until the names are on the disk.
  func sync() throws(JournalError) {
    while descriptor >= 0, fsync(descriptor) != 0 {
      let code = errno
      // The file system cannot sync names.
      if [EINVAL, ENOTSUP, EROFS].contains(code) { return }
      if code != EINTR { throw .system("synchronized", path: path, code: code) }
    }
  }
}
