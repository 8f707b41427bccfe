// SPDX-License-Identifier: Apache-2.0
import Forwarding
import RemoteTestSupport
import Testing

@testable import ForwardingRemote

/// Numbers and versions in the messages of a socket.
@Suite("Frames of a socket", .timeLimit(.minutes(10)))
struct SocketFrameTests {
  private let path = socketPath()

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
