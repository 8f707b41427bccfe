// SPDX-License-Identifier: Apache-2.0
import Forwarding
import RemoteTestSupport
import Testing

@testable import ForwardingRemote

/// Numbers and versions in the messages of a socket.
@Suite("Frames of a socket", .timeLimit(.minutes(10)))
struct SocketFrameTests {
  private let path = socketPath()

  @Test("a peer of version 1 gets a refusal that it can read, and keeps its connection")
  func firstVersion() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    defer { server.close() }
    let peer = try #require(PacketSocket(path))
    let (number, numbers) = ((1...8).map { UInt8($0) }, (11...26).map { UInt8($0) })
    let subject = Array("forwarding.bank-1.bank".utf8)
    for _ in 0..<2 {
      #expect(
        peer.send(
          [2, 0, UInt8(subject.count), 0] + number + subject + [1, 0, 1, 0] + numbers
            + [0xE8, 3, 0, 0] + [1, 0, 4, 0, 8, 0]))
      let refusal: [UInt8] = [1, 0, 0x83, 2] + numbers + [UInt8](repeating: 0, count: 8)
      #expect(peer.receive() == [3, 0, 0, 0] + number + refusal)
    }
  }

  @Test("two subjects with the same number are refused when they are subscribed to")
  func sameNumber() throws {
    let transport = InProcessTransport()
    let first = try transport.subscribe(to: RemoteSubject(known: "a", number: 7), group: nil) { _ in
    }
    let error = TransportError.failed("'b' has the number of 'a': rename one of them")
    #expect(throws: error) {
      try transport.subscribe(to: RemoteSubject(known: "b", number: 7), group: nil) { _ in }
    }
    first.end()
    try transport.subscribe(to: RemoteSubject(known: "b", number: 7), group: nil) { _ in }.end()
  }
}
