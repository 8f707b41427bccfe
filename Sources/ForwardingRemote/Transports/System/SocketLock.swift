#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What keeps others away who begin to listen at the same path: of two that find a dead socket, the second would take away
/// that of the first.
///
/// It is a file of this user's beside the socket, there for as long as somebody begins, and locked: so nobody else can hold
/// it, and what a process leaves that is killed meanwhile is not locked any more.
struct SocketLock {
  private let number: Int32
  private let path: String

  /// Takes the lock, at once or not at all.
  init(for socket: String) throws(TransportError) {
    // Before a file is made: behind a zero, the system would not see that this one has another name.
    try SocketDescriptor.check(socket)
    path = socket + ".lock"
    // Another one may take its file away between opening and locking it; then there is a new one.
    for _ in 0..<100 {
      // SAFETY: the text lives until the call returns.
      let number = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard number >= 0 else { throw .unreachable("\(path): \(Self.lastError)") }
      if flock(number, LOCK_EX | LOCK_NB) != 0 {
        close(number)
        throw .unreachable("\(socket): somebody else begins to listen there")
      }
      var (own, there) = (stat(), stat())
      // SAFETY: as above; the facts are written, or the status says that they are not.
      let isOwn = unsafe fstat(number, &own) == 0 && own.st_uid == geteuid()
      let isThere = unsafe lstat(path, &there) == 0 && there.st_ino == own.st_ino
      if isOwn, isThere, own.st_dev == there.st_dev {
        self.number = number
        return
      }
      close(number)
      if !isOwn { throw .unreachable("\(path): it is another user's") }
    }
    throw .unreachable("\(socket): others begin to listen there")
  }

  /// Gives it back, and leaves nothing of it behind. A file that something is written in is somebody's who has other uses
  /// for its name.
  func end() {
    var own = stat()
    // SAFETY: the text lives until the call returns; the facts are written, or the status says that they are not.
    if unsafe fstat(number, &own) == 0, own.st_mode & S_IFMT == S_IFREG, own.st_size == 0 {
      _ = unsafe unlink(path)
    }
    _ = flock(number, LOCK_UN)
    close(number)
  }

  private static var lastError: String { unsafe String(cString: strerror(errno)) }
}
