// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import RemoteTestSupport
import Testing

@Suite("Texts of errors that are longer than a message", .timeLimit(.minutes(60)))
struct LongTextTests {
  @Test("an error with a long text arrives, with a part of it")
  func failure() async throws {
    let transport = InProcessTransport(maximumPayload: 1024)
    let grumble = try AsyncMessage<Int>("longGrumble")
    let host = RemoteHost(transport, as: "long")
    var allowed = Interface("long")
    try allowed.allow(grumble)
    try host.expose(Grumbler(), allowed)
    let remote = RemoteProxy(allowed, transport, at: "long", deadline: .seconds(20))
    let text = String(Long().remoteText.prefix(1024 - 24))
    await #expect(throws: RemoteError.failed(code: 3, text: text)) { try await grumble(on: remote) }
    #expect(host.statistics.failed == 1)
    host.close()
  }

  private final class Grumbler: Sendable {
    private static let isReady: Void = {
      do {
        try MethodTable.of(Grumbler.self).register("longGrumble") {
          (_: Grumbler) throws -> Int in
          throw Long()
        }
      } catch { fatalError("\(error)") }
    }()

    init() { Self.isReady }
  }

  private struct Long: RemoteFailure {
    var remoteCode: Int32 { 3 }
    var remoteText: String { String(repeating: "no. ", count: 1000) }
  }
}
