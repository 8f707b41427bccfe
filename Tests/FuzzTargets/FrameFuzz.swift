// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingRemote
import Glibc
import Invocations

/// The system call; a method of `Peer` has the same name.
private let systemSend = send(_:_:_:_:)

/// For any messages of a connected peer, valid frames are decoded as they were encoded, an invalid
/// frame closes the connection, and other connections are served.
enum FrameFuzz {
  static func run(_ bytes: [UInt8]) throws {
    var input = FuzzInput(bytes)
    var frames: [[UInt8]] = []
    while !input.isEmpty, frames.count < 4 { frames.append(input.line()) }
    frames.append(input.rest)
    frames = frames.filter { !$0.isEmpty }
    for frame in frames { try parse(frame) }
    try send(frames)
  }

  private static func parse(_ bytes: [UInt8]) throws {
    guard let frame = SocketFrame(bytes) else { return }
    try demand(frame.bytes == bytes, "a frame is not written as it was read: \(bytes)")
  }

  // MARK: A socket

  private static let path = "/tmp/forwarding-fuzz-\(UInt64.random(in: 0 ... .max))"

  /// One server for all inputs, as a process has one.
  private static let server: Result<UnixSocketTransport, any Error> = Result {
    let server = try UnixSocketTransport(listeningAt: path)
    atexit { try? FrameFuzz.server.get().close() }
    return server
  }
  private static let echo = Result {
    try server.get().subscribe(to: "echo", group: nil) { $0.answer?($0.payload) }
  }

  private static func send(_ frames: [[UInt8]]) throws {
    let server = try server.get()
    _ = try echo.get()
    let peer = try Peer(path)
    try demand(peer.echoes([1]), "a peer is not answered")
    // The peer's first request is answered, so the server knows the peer and sends it the next
    // request.
    let answers = Guarded(0)
    let request = try server.request([7], to: "work") { _ in answers.withLock { $0 += 1 } }
    defer { request.end() }
    guard let asked = peer.receive(), let work = SocketFrame(asked), work.kind == .asked else {
      throw FuzzFinding(description: "a peer is not asked")
    }
    var isOpen = true
    var isAnswered = false
    for frame in frames {
      // Each frame alone, and as an answer to the server's request.
      let answer = [0x13 + (frame[0] & 1)] + asked[1..<4] + frame
      for bytes in [frame, answer] where isOpen {
        isOpen = SocketFrame(bytes) != nil
        isAnswered = isAnswered || isOpen && bytes == answer && bytes[0] == 0x13
        _ = peer.send(bytes)
      }
    }
    try demand(
      peer.echoes([2, 3]) == isOpen,
      isOpen ? "a peer in order is hung up on" : "a frame that is none is taken")
    guard isOpen, isAnswered else { return }
    // The server does not wait for a peer that has no subscriber, but it may not have noticed yet
    // that a peer is gone.
    for _ in 0..<6000 where answers.read({ $0 }) == 0 { usleep(10_000) }
    try demand(answers.read { $0 } > 0, "answers are lost")
    try demand(try Peer(path).echoes([4]), "others are not served any more")
  }

  /// A plain connection with a timeout of one minute.
  private final class Peer {
    private let number: Int32
    private var count: UInt8 = 0

    init(_ path: String) throws {
      number = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0)
      var time = timeval()
      time.tv_sec = 60
      setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      let status = withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(number, $0, size) }
      }
      try demand(status == 0, "nobody listens at \(path) any more: \(errno)")
    }

    deinit { close(number) }

    func send(_ bytes: [UInt8]) -> Bool {
      systemSend(number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// The next message; nil after the other end has closed.
    func receive() -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: 8192)
      var count: Int
      // libFuzzer's timer interrupts the call with a signal.
      repeat { count = recv(number, &bytes, bytes.count, 0) } while count < 0 && errno == EINTR
      return count > 0 ? Array(bytes[..<count]) : nil
    }

    /// Whether an echo request is answered, after any other messages.
    func echoes(_ bytes: [UInt8]) -> Bool {
      count += 1
      let number: UInt64 = 0xEEEE00 + UInt64(count)
      guard send(SocketFrame(.asked, number, "echo", bytes).bytes) else { return false }
      while let answer = receive() {
        if answer == SocketFrame(.answered, number, nil, bytes).bytes { return true }
      }
      return false
    }
  }
}
