// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A lock on a path, of the one process that listens there. Without it, two processes could find
/// the same abandoned socket, and the second would remove that of the first.
///
/// It is a locked file beside the socket that only the current user may open. The system releases
/// the lock of a process that was killed.
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
    while true {
      // SAFETY: the text lives until the call returns.
      let number = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard number >= 0 else { throw .unreachable("\(path): \(SocketDescriptor.lastError)") }
      guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
        close(number)
        throw .unreachable("\(socket): a process listens there already")
      }
      if Self.facts(of: number).st_nlink > 0 {
        self.number = number
        return
      }
      // Its previous owner has removed the file meanwhile, so a new one is made.
      close(number)
    }
  }

  /// Removes the file and releases the lock. A file that is not empty is kept, as it serves another
  /// purpose.
  func end() {
    let facts = Self.facts(of: number)
    // SAFETY: the text lives until the call returns.
    if facts.st_mode & S_IFMT == S_IFREG, facts.st_size == 0 { _ = unsafe unlink(path) }
    close(number)
  }

  private static func facts(of number: Int32) -> stat {
    var facts = stat()
    // SAFETY: the facts live until the call returns, and are zeros if it fails.
    _ = unsafe fstat(number, &facts)
    return facts
  }
}
