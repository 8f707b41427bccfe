// SPDX-License-Identifier: Apache-2.0
import CSocketShims

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A lock on listening at a path. Without it, two processes could find the same abandoned socket,
/// and the second would remove that of the first.
///
/// It is a locked file beside the socket that belongs to the current user, and exists only while a
/// process begins to listen. So other users cannot hold the lock, and the lock of a killed process
/// is free.
struct SocketLock {
  private let number: Int32
  private let path: String

  /// Takes the lock without waiting.
  ///
  /// - Throws: ``TransportError/unreachable(_:)`` if another process holds it, or the file cannot
  ///   be used.
  init(for socket: String) throws(TransportError) {
    // Before the file is made: the system would cut the name of a path that contains a zero.
    try SocketDescriptor.check(socket)
    path = socket + ".lock"
    // The previous owner may remove its file between `open` and `flock`; then a new one is made.
    for _ in 0..<100 {
      // SAFETY: the text lives until the call returns.
      let number = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard number >= 0 else { throw .unreachable("\(path): \(Self.lastError)") }
      fwd_own_descriptor(number)
      if flock(number, LOCK_EX | LOCK_NB) != 0 {
        fwd_close_descriptor(number)
        throw .unreachable("\(socket): another process begins to listen there")
      }
      var (own, there) = (stat(), stat())
      // SAFETY: the text lives until the call returns; the facts are only read if they were
      // written.
      let isOwn = unsafe fstat(number, &own) == 0 && own.st_uid == geteuid()
      let isThere = unsafe lstat(path, &there) == 0 && there.st_ino == own.st_ino
      if isOwn, isThere, own.st_dev == there.st_dev {
        self.number = number
        return
      }
      fwd_close_descriptor(number)
      if !isOwn { throw .unreachable("\(path): it is another user's") }
    }
    throw .unreachable("\(socket): other processes begin to listen there")
  }

  /// Releases the lock and removes its file. A file that is not empty is kept, as it serves another
  /// purpose.
  func end() {
    var own = stat()
    // SAFETY: the text lives until the call returns; the facts are only read if they were written.
    if unsafe fstat(number, &own) == 0, own.st_mode & S_IFMT == S_IFREG, own.st_size == 0 {
      _ = unsafe unlink(path)
    }
    _ = flock(number, LOCK_UN)
    fwd_close_descriptor(number)
  }

  private static var lastError: String { unsafe String(cString: strerror(errno)) }
}
