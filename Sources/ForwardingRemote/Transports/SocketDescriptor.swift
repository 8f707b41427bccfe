#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// The calls of the system, in one place, and with values instead of addresses.

/// A socket of this machine that keeps messages apart.
struct SocketDescriptor: Hashable, Sendable {
  let number: Int32

  /// Makes one that does not wait.
  static func make() throws(TransportError) -> SocketDescriptor {
    let kind = Int32(SOCK_SEQPACKET.rawValue)
    let number = socket(AF_UNIX, kind, 0)
    guard number >= 0 else { throw .failed("no socket: \(lastError)") }
    let descriptor = SocketDescriptor(number: number)
    descriptor.setUp()
    return descriptor
  }

  /// Says that nothing waits, that children do not have it, and how much room there is.
  func setUp() {
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    _ = fcntl(number, F_SETFL, O_NONBLOCK)
    if room < Self.room { setRoom(Self.room) }
  }

  /// What the largest message needs, with some for the system itself.
  private static let room = 192 << 10

  /// The room for messages on their way out: no message can be larger.
  func setRoom(_ bytes: Int) {
    var bytes = Int32(clamping: bytes)
    // SAFETY: the option is a number, of the size that is given.
    unsafe setsockopt(
      number, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
  }

  var room: Int {
    var bytes: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    // SAFETY: as above.
    unsafe getsockopt(number, SOL_SOCKET, SO_SNDBUF, &bytes, &size)
    return Int(bytes)
  }

  func close() { _ = system_close(number) }

  // MARK: Connections

  /// Listens at a path, at which only this user may connect.
  func listen(at path: String) throws(TransportError) {
    // The file gets the rights of the socket.
    _ = fchmod(number, 0o600)
    // SAFETY: the address lives until the call returns.
    let status = unsafe try withAddress(of: path) { address, size in
      unsafe bind(number, address, size)
    }
    guard status == 0 else { throw .unreachable("\(path): \(lastError)") }
    guard system_listen(number) == 0 else { throw .unreachable("\(path): \(lastError)") }
  }

  /// Which of all files a socket in the file system is.
  struct File: Hashable, Sendable {
    let device: UInt64
    let number: UInt64

    /// The socket at a path; nil where there is none, or another kind of file.
    init?(at path: String) {
      var facts = stat()
      // SAFETY: the facts are written, or the status says that they are not.
      guard unsafe lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFSOCK else { return nil }
      device = UInt64(truncatingIfNeeded: facts.st_dev)
      number = UInt64(truncatingIfNeeded: facts.st_ino)
    }
  }

  /// Takes away a socket, and no other file that may be there by now.
  static func remove(_ file: File?, at path: String) {
    guard let file, File(at: path) == file else { return }
    // SAFETY: the text lives until the call returns.
    _ = unsafe unlink(path)
  }

  /// Keeps others away who begin to listen in the same folder, as of two that find a dead socket, the second would
  /// take away that of the first. Nobody is waited for longer than two seconds: everybody may hold the lock of a folder.
  static func lockFolder(of path: String) -> SocketDescriptor? {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = end.map { String(path[..<$0]) + "/" } ?? "."
    // SAFETY: the text lives until the call returns.
    let number = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { return nil }
    for _ in 0..<2000 {
      if flock(number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { break }
      usleep(1000)
    }
    return SocketDescriptor(number: number)
  }

  /// Connects to who listens at a path; false if nobody does. Who listens, and has too many that wait, is there.
  func connect(to path: String) throws(TransportError) -> Bool {
    // SAFETY: as above.
    let status = unsafe try withAddress(of: path) { address, size in
      unsafe system_connect(number, address, size)
    }
    if status == 0 { return true }
    if errno == ECONNREFUSED || errno == ENOENT { return false }
    if errno == EAGAIN { throw .unreachable("\(path): too many wait for who listens there") }
    throw .unreachable("\(path): \(lastError)")
  }

  /// What became of one that wants to connect.
  enum Accepted { case connected(SocketDescriptor), nothing, noRoom }

  /// The next one that wants to connect.
  func accept() -> Accepted {
    while true {
      let number = system_accept(self.number)
      if number >= 0 {
        let descriptor = SocketDescriptor(number: number)
        descriptor.setUp()
        return .connected(descriptor)
      }
      // One that has gone again does not hide the next one.
      if errno == EINTR || errno == ECONNABORTED { continue }
      return errno == EAGAIN || errno == EWOULDBLOCK ? .nothing : .noRoom
    }
  }

  /// The process at the other end, as the kernel says.
  var peer: TransportPeer {
    #if os(Linux)
      var credentials = (Int32(0), UInt32(0), UInt32(0))
      var size = socklen_t(MemoryLayout.size(ofValue: credentials))
      // SAFETY: `struct ucred` is a process, a user and a group, of four bytes each.
      guard unsafe getsockopt(number, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else {
        return .network
      }
      return .process(id: credentials.0, user: credentials.1, group: credentials.2)
    #else
      return .network
    #endif
  }

  /// Whether the process at the other end belongs to another user. Where the kernel does not say, none does.
  var isOfAnotherUser: Bool {
    guard case .process(_, let user, _) = peer else { return false }
    return user != geteuid()
  }

  @unsafe
  private func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(TransportError) -> Int32 {
    var address = sockaddr_un()
    let bytes = Array(path.utf8)
    let limit = MemoryLayout.size(ofValue: address.sun_path)
    guard bytes.count < limit, !bytes.contains(0), !bytes.isEmpty else {
      throw .unreachable("a path has from 1 to \(limit - 1) bytes, and this has \(bytes.count)")
    }
    address.sun_family = sa_family_t(AF_UNIX)
    // SAFETY: the path fits, and a zero is behind it, as the address began with nothing but zeros.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    return unsafe withUnsafePointer(to: address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, size) }
    }
  }

  // MARK: Messages

  /// What became of a message.
  enum Sent { case sent, full, broken, tooLarge }

  /// Sends one message, or nothing.
  func send(_ bytes: [UInt8]) -> Sent {
    // SAFETY: the bytes are there until the call returns.
    let count = unsafe bytes.withUnsafeBytes {
      unsafe system_send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    if count == bytes.count { return .sent }
    if errno == EMSGSIZE { return .tooLarge }
    return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? .full : .broken
  }

  /// What came.
  enum Received { case message([UInt8]), nothing, ended }

  /// Takes one message of at most as many bytes as there is room for; who sends more is at fault.
  func receive(into room: inout [UInt8]) -> Received {
    // SAFETY: no more is written than there is room for.
    let count = unsafe room.withUnsafeMutableBytes {
      unsafe recv(number, $0.baseAddress, $0.count, Int32(MSG_TRUNC))
    }
    if count < 0 { return errno == EAGAIN || errno == EINTR ? .nothing : .ended }
    guard count > 0, count <= room.count else { return .ended }
    return .message(Array(room[..<count]))
  }
}

/// What the system says of its last refusal.
private var lastError: String { unsafe String(cString: strerror(errno)) }

// Methods of the same name hide these.
private func system_close(_ number: Int32) -> Int32 { close(number) }
private func system_listen(_ number: Int32) -> Int32 { listen(number, 64) }
private func system_accept(_ number: Int32) -> Int32 { accept(number, nil, nil) }
@unsafe
private func system_connect(
  _ number: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t
) -> Int32 { unsafe connect(number, address, size) }
@unsafe
private func system_send(
  _ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32
) -> Int { unsafe send(number, bytes, count, flags) }
