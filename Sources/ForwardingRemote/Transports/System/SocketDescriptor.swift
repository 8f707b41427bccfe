import CSocketShims

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

  /// Makes one that nobody waits at, and that no child has.
  static func make() throws(TransportError) -> SocketDescriptor {
    let kind = SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let number = socket(AF_UNIX, Int32(kind), 0)
    guard number >= 0 else { throw .failed("no socket: \(lastError)") }
    let descriptor = SocketDescriptor(number: number)
    descriptor.setUp()
    return descriptor
  }

  /// Says how much room there is.
  func setUp() { if room < Self.room { setRoom(Self.room) } }

  /// Lets threads wait at it, for what comes.
  private func letWait() { _ = fcntl(number, F_SETFL, 0) }

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

  /// Ends the connection for both sides. What has come is still there to be read.
  func shutDown() { _ = shutdown(number, Int32(SHUT_RDWR)) }

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
    letWait()
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

  /// Connects to who listens at a path; false if nobody does. Who listens, and has too many that wait, is there.
  func connect(to path: String) throws(TransportError) -> Bool {
    // SAFETY: as above.
    let status = unsafe try withAddress(of: path) { address, size in
      unsafe system_connect(number, address, size)
    }
    if status == 0 {
      letWait()
      return true
    }
    if errno == ECONNREFUSED || errno == ENOENT { return false }
    if errno == EAGAIN { throw .unreachable("\(path): too many wait for who listens there") }
    throw .unreachable("\(path): \(lastError)")
  }

  /// What became of one that wants to connect.
  enum Accepted { case connected(SocketDescriptor), noRoom, ended }

  /// Waits for the next one that wants to connect.
  func accept() -> Accepted {
    while true {
      let number = fwd_accept_connection(self.number)
      if number >= 0 {
        let descriptor = SocketDescriptor(number: number)
        descriptor.setUp()
        return .connected(descriptor)
      }
      switch errno {
      // One that has gone again does not hide the next one.
      case EINTR, ECONNABORTED: continue
      // Files, or memory: somebody may give some back.
      case EMFILE, ENFILE, ENOBUFS, ENOMEM, EPERM: return .noRoom
      default: return .ended
      }
    }
  }

  /// Waits for a while, on a thread that nothing else needs.
  static func rest(milliseconds: UInt32) { usleep(1000 * milliseconds) }

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

  /// Refuses what is no path of a socket.
  static func check(_ path: String) throws(TransportError) {
    let (bytes, limit) = (path.utf8, MemoryLayout.size(ofValue: sockaddr_un().sun_path))
    if bytes.contains(0) { throw .unreachable("a path has no zero in it, and this has") }
    guard bytes.count < limit, !bytes.isEmpty else {
      throw .unreachable("a path has from 1 to \(limit - 1) bytes, and this has \(bytes.count)")
    }
  }

  @unsafe
  private func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(TransportError) -> Int32 {
    try Self.check(path)
    var address = sockaddr_un()
    let bytes = Array(path.utf8)
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
      unsafe system_send(
        number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
    if count == bytes.count { return .sent }
    if errno == EMSGSIZE { return .tooLarge }
    return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? .full : .broken
  }

  /// Waits until the other side has read something, or there is none any more.
  func waitForRoom() {
    var wanted = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
    // SAFETY: one is looked at, and it is there until the call returns.
    _ = unsafe poll(&wanted, 1, -1)
  }

  /// Room for a message of so many bytes. Nothing is written there, so the system gives memory for those parts that
  /// messages have needed.
  static func room(of size: Int) -> [UInt8] {
    // SAFETY: any bytes are bytes; only those that a message has written are looked at.
    unsafe [UInt8](unsafeUninitializedCapacity: size) { $1 = size }
  }

  /// Waits for one message of at most as many bytes as there is room for, and returns how many they are; nil at the end.
  /// Who sends more is at fault.
  func receive(into room: inout [UInt8]) -> Int? {
    while true {
      // SAFETY: no more is written than there is room for.
      let count = unsafe room.withUnsafeMutableBytes {
        unsafe recv(number, $0.baseAddress, $0.count, Int32(MSG_TRUNC))
      }
      if count > 0, count <= room.count { return count }
      // That the other side has not read all is said once. What it sent before is still there.
      guard count < 0, errno == EINTR || errno == ECONNRESET else { return nil }
    }
  }
}

/// What the system says of its last refusal.
private var lastError: String { unsafe String(cString: strerror(errno)) }

// Methods of the same name hide these.
private func system_close(_ number: Int32) -> Int32 { close(number) }
private func system_listen(_ number: Int32) -> Int32 { listen(number, 64) }
@unsafe
private func system_connect(
  _ number: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t
) -> Int32 { unsafe connect(number, address, size) }
@unsafe
private func system_send(
  _ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32
) -> Int { unsafe send(number, bytes, count, flags) }
