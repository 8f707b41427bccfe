// SPDX-License-Identifier: Apache-2.0
import CSocketShims

import Glibc

// All system calls for sockets, with values instead of pointers.

/// A Unix socket that preserves the boundaries of messages.
struct SocketDescriptor: Hashable, Sendable {
  let number: Int32

  /// Makes a socket that does not block, and that is closed on `exec`.
  static func make() throws(TransportError) -> SocketDescriptor {
    let kind = SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let number = socket(AF_UNIX, Int32(kind), 0)
    guard number >= 0 else { throw .failed("the system has no socket: \(Self.lastError)") }
    let descriptor = SocketDescriptor(number: number)
    descriptor.setRoom(Self.room)
    return descriptor
  }

  /// Makes calls block until messages arrive.
  private func letWait() { _ = fcntl(number, F_SETFL, 0) }

  /// The bytes of the largest message, and some for the kernel's overhead.
  private static let room = 192 << 10

  /// Sets the size of the send buffer, which limits the size of a message.
  func setRoom(_ bytes: Int) {
    var bytes = Int32(clamping: bytes)
    // SAFETY: the option is a number of the given size.
    unsafe setsockopt(
      number, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Ends the connection for both sides. Messages that have arrived can still be read.
  func shutDown() { _ = shutdown(number, Int32(SHUT_RDWR)) }

  func close() { _ = system_close(number) }

  // MARK: Connections

  /// Listens at a path. Only the current user may connect.
  func listen(at path: String) throws(TransportError) {
    // The file gets the permissions of the socket.
    _ = fchmod(number, 0o600)
    // SAFETY: the address lives until the call returns.
    let status = unsafe try withAddress(of: path) { address, size in
      unsafe bind(number, address, size)
    }
    guard status == 0 else { throw .unreachable("\(path): \(Self.lastError)") }
    guard system_listen(number) == 0 else { throw .unreachable("\(path): \(Self.lastError)") }
    letWait()
  }

  /// Removes the socket at a path. Files of other kinds stay.
  static func remove(_ path: String) {
    var facts = stat()
    // SAFETY: the text lives until the calls return. `facts` is only read if it was written.
    guard unsafe lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFSOCK else { return }
    _ = unsafe unlink(path)
  }

  /// Connects to the process that listens at a path. Returns false if no process listens there.
  ///
  /// - Throws: ``TransportError/unreachable(_:)`` for other errors, such as a full queue of
  ///   connections.
  func connect(to path: String) throws(TransportError) -> Bool {
    // SAFETY: the address lives until the call returns.
    let status = unsafe try withAddress(of: path) { address, size in
      unsafe system_connect(number, address, size)
    }
    if status == 0 {
      letWait()
      return true
    }
    if errno == ECONNREFUSED || errno == ENOENT { return false }
    if errno == EAGAIN { throw .unreachable("\(path): too many connections are waiting there") }
    throw .unreachable("\(path): \(Self.lastError)")
  }

  /// Waits for the next connection. Returns nil if the system has none, for whatever reason.
  func accept() -> SocketDescriptor? {
    while true {
      let number = fwd_accept_connection(self.number)
      if number >= 0 {
        let descriptor = SocketDescriptor(number: number)
        descriptor.setRoom(Self.room)
        return descriptor
      }
      // The client has given up, so the next connection is accepted.
      guard errno == EINTR || errno == ECONNABORTED else { return nil }
    }
  }

  /// Blocks the current thread for a time. No other work may need the thread.
  static func rest(milliseconds: UInt32) { usleep(1000 * milliseconds) }

  /// The process at the other end, as the kernel reports it.
  var peer: TransportPeer {
    var credentials = (Int32(0), UInt32(0), UInt32(0))
    var size = socklen_t(MemoryLayout.size(ofValue: credentials))
    // SAFETY: `struct ucred` consists of a process, a user and a group, of four bytes each.
    guard unsafe getsockopt(number, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else {
      return .network
    }
    return .process(id: credentials.0, user: credentials.1, group: credentials.2)
  }

  /// Whether the process at the other end belongs to another user; false if the kernel does not
  /// say.
  var isOfAnotherUser: Bool {
    guard case .process(_, let user, _) = peer else { return false }
    return user != geteuid()
  }

  /// Checks that a path is valid for a socket. A relative one would be another one once the current
  /// folder changes.
  ///
  /// - Throws: ``TransportError/unreachable(_:)`` if it is relative, too long, or contains a zero.
  static func check(_ path: String) throws(TransportError) {
    let (bytes, limit) = (path.utf8, MemoryLayout.size(ofValue: sockaddr_un().sun_path))
    if bytes.contains(0) { throw .unreachable("the path of the socket contains a NUL") }
    if bytes.count >= limit {
      throw .unreachable(
        "the path of a socket has at most \(limit - 1) bytes, but this one has \(bytes.count)")
    }
    if !path.hasPrefix("/") { throw .unreachable("'\(path)' does not begin with a slash") }
  }

  @unsafe
  private func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(TransportError) -> Int32 {
    try Self.check(path)
    var address = sockaddr_un()
    let bytes = Array(path.utf8)
    address.sun_family = sa_family_t(AF_UNIX)
    // SAFETY: the path fits, and a zero follows it, as the address is initialized with zeros.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    return unsafe withUnsafePointer(to: address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, size) }
    }
  }

  // MARK: Messages

  /// The result of sending a message.
  enum Sent {
    case sent, broken, tooLarge
    /// The send buffer is full, or the system has no memory for the message.
    case full
  }

  /// Sends one whole message or nothing, without blocking.
  func send(_ bytes: [UInt8]) -> Sent {
    // SAFETY: the bytes live until the call returns.
    let count = unsafe bytes.withUnsafeBytes {
      unsafe system_send(
        number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
    if count == bytes.count { return .sent }
    switch errno {
    case EMSGSIZE: return .tooLarge
    case EAGAIN, EINTR, ENOBUFS, ENOMEM: return .full
    default: return .broken
    }
  }

  /// Blocks until there is room in the send buffer, or the connection has ended.
  func waitForRoom() {
    var wanted = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
    // SAFETY: the call uses one element, which lives until it returns.
    _ = unsafe poll(&wanted, 1, -1)
  }

  /// A buffer for a message of up to `size` bytes. It is not initialized, so the system provides
  /// memory only for the parts that messages have used.
  static func room(of size: Int) -> [UInt8] {
    // SAFETY: any bytes are valid; only those that a message has written are read.
    unsafe [UInt8](unsafeUninitializedCapacity: size) { $1 = size }
  }

  /// Waits for one message, and returns its bytes; nil at the end of the connection. A message that
  /// does not fit into the buffer also ends it.
  func receive(into room: inout [UInt8]) -> Int? {
    while true {
      // SAFETY: the call writes no more than the size of the buffer.
      let count = unsafe room.withUnsafeMutableBytes {
        unsafe recv(number, $0.baseAddress, $0.count, Int32(MSG_TRUNC))
      }
      if count > 0, count <= room.count { return count }
      // ECONNRESET is reported once if the peer left messages unread. Its own messages can still be
      // read.
      guard count < 0, errno == EINTR || errno == ECONNRESET else { return nil }
    }
  }

  /// The system's description of the last error.
  static var lastError: String { unsafe String(cString: strerror(errno)) }
}

// Wrappers of functions that are hidden by methods of the same name.
private func system_listen(_ number: Int32) -> Int32 { listen(number, 64) }
private func system_close(_ number: Int32) -> Int32 { close(number) }
@unsafe
private func system_connect(
  _ number: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t
) -> Int32 { unsafe connect(number, address, size) }
@unsafe
private func system_send(
  _ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32
) -> Int { unsafe send(number, bytes, count, flags) }
