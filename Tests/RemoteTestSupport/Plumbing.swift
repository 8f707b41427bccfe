// SPDX-License-Identifier: Apache-2.0
import ForwardingRemote
import Foundation

import Glibc

// What tests need of the system: folders, and sockets without any code of this package.

/// A new path for a socket, in the folder for temporary files. It is short, because a socket's path
/// has a limit of about 100 bytes.
package func socketPath() -> String {
  FileManager.default.temporaryDirectory
    .appendingPathComponent("forwarding-\(UInt64.random(in: 0 ... .max))").path
}

/// A folder that exists as long as the object.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    path = socketPath()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package func path(_ name: String) -> String { path + "/" + name }
}

/// A plain connection to a port of this machine.
package final class LoopbackSocket: Sendable {
  private let number: Int32

  package init?(port: Int) {
    number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    // A missing reply fails the test instead of blocking it forever.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(
      number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let status = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(number, $0, size)
      }
    }
    if status != 0 { return nil }
  }

  deinit { close(number) }

  /// Sends all bytes, blocking if necessary. Returns false if the other end has closed.
  package func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// The first line that arrives.
  package func line() -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(number, &bytes, bytes.count, 0)
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }
}

/// A plain Unix socket that preserves message boundaries, as the transport's do.
package final class PacketSocket: Sendable {
  private let number: Int32

  private init(number: Int32) { self.number = number }

  /// Makes a socket that is not connected.
  package convenience init(blocks: Bool = true) {
    // Closed on `exec`, so that no process started by a test inherits it.
    let kind = SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue
    let flags = blocks ? 0 : SOCK_NONBLOCK.rawValue
    self.init(number: socket(AF_UNIX, Int32(kind | flags), 0))
  }

  package convenience init?(_ path: String) {
    self.init()
    if !connect(to: path) { return nil }
  }

  package convenience init?(listeningAt path: String) {
    self.init()
    if !Self.use(number, path, Glibc.bind) || listen(number, 64) != 0 { return nil }
  }

  deinit { close(number) }

  package func connect(to path: String) -> Bool { Self.use(number, path, Glibc.connect) }

  private static func use(
    _ number: Int32, _ path: String,
    _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  /// The next connection; nil once the socket is shut down.
  package func accept() -> PacketSocket? {
    let new = Glibc.accept(number, nil, nil)
    _ = fcntl(new, F_SETFD, FD_CLOEXEC)
    return new < 0 ? nil : PacketSocket(number: new)
  }

  package func shutDown() { shutdown(number, Int32(SHUT_RDWR)) }

  /// Sends one message. Returns false if the other end has closed.
  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
    Glibc.send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  /// The next message; nil if the other end has closed.
  package func receive() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 18)
    let count = recv(number, &bytes, bytes.count, 0)
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  /// Whether the other end answers, which it does once it has accepted the connection.
  package func isAnswered() -> Bool {
    send(SocketFrame(.asked, 7, "nobody", []).bytes)
    return receive() == SocketFrame(.nobody, 7, nil, []).bytes
  }
}
