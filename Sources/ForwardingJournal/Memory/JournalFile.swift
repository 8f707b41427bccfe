// SPDX-License-Identifier: Apache-2.0
import CJournalShims
import ForwardingWire
import Foundation
import Invocations

// Only the files of this folder handle descriptors in this module, and only `JournalWindow.swift`
// raw memory.

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
final class JournalFile: Sendable {
  private let descriptor: Int32
  /// The device and inode of the file, and its size when it was opened.
  private let opened: FWDFileFacts
  private let process = ForkGuard()
  /// The path of the file, which errors name.
  let path: String

  /// Opens a file. A folder or a device has no header of a journal.
  ///
  /// - Parameter named: the path that the file gets later, which errors name; nil for `path`.
  init(_ path: String, _ flags: Int32, named: String? = nil) throws(JournalError) {
    self.path = named ?? path
    descriptor = unsafe open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw .system("opened", path: self.path, code: errno) }
    var facts = FWDFileFacts()
    let code = unsafe fwd_facts_of_descriptor(descriptor, &facts)
    opened = facts
    guard code == 0 else {
      // A file that was begun here has nothing yet.
      if flags & O_EXCL != 0 { unsafe unlink(path) }
      throw .system("opened", path: self.path, code: code)
    }
  }

  deinit {
    unlock()
    close(descriptor)
  }

  /// The current size of the file, in bytes.
  var size: Int {
    get throws(JournalError) {
      var facts = FWDFileFacts()
      let code = unsafe fwd_facts_of_descriptor(descriptor, &facts)
      guard code == 0 else { throw .system("read", path: path, code: code) }
      return Int(facts.size)
    }
  }

  /// Whether a path leads to this file, and the file has at least `count` bytes. Does not query its
  /// times: the next sync would write them.
  func isAt(_ path: String, holding count: Int = 0) throws(JournalError) -> Bool {
    var facts = FWDFileFacts()
    let code = unsafe fwd_facts_at(path, &facts)
    if [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(code) { return false }
    guard code == 0 else { throw .system("found", path: path, code: code) }
    return facts.number == opened.number && facts.device == opened.device && facts.size >= count
  }

  /// Acquires the exclusive lock for writing.
  func lock() throws(JournalError) {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      guard code == EWOULDBLOCK else { throw .system("locked", path: path, code: code) }
      throw .locked(path: path)
    }
  }

  /// Releases the lock, even if a forked child has the descriptor. A child never releases it.
  func unlock() { if !process.isForked { flock(descriptor, LOCK_UN) } }

  /// Writes bytes at `end`, the end of the records, by one `write`, and continues if the write is
  /// partial. On an error, cuts the file back to `end`.
  func append(_ writer: borrowing WireWriter, at end: Int) throws(JournalError) {
    let result = unsafe writer.withBytes { bytes in
      Result { () throws(JournalError) in try unsafe put(bytes, at: end) }
    }
    if case .failure = result { try cut(to: end) }
    try result.get()
  }

  /// Writes bytes at an offset.
  func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(JournalError) {
    var written = 0
    while written < bytes.count {
      // SAFETY: the range is within the bytes that were lent.
      let count = unsafe pwrite(
        descriptor, bytes.baseAddress.unsafelyUnwrapped + written, bytes.count - written,
        off_t(offset + written))
      if count > 0 {
        written += count
      } else if count == 0 || errno != EINTR {
        throw .system("written", path: path, code: count == 0 ? EIO : errno)
      }
    }
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

  /// Waits until the written bytes are on the disk, and readers find them: otherwise they are useless.
  func sync(holding size: Int) throws(JournalError) {
    try sync()
    if try !isAt(path, holding: size) { throw .displaced(path: path) }
  }

  /// Reads into memory: at least `wanted` bytes, unless the file ends before them.
  ///
  /// An error after the wanted bytes is ignored: the next read that wants these bytes gets it again.
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
      } else if more == 0 || errno != EINTR {
        if more == 0 || count >= wanted { break }
        throw .system("read", path: path, code: errno)
      }
    }
    return count
  }

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
