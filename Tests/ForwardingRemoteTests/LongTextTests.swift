// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Testing

@Suite("Texts of errors that are longer than a message", .timeLimit(.minutes(10)))
struct LongTextTests {
  private typealias Deep = [String: [String: [String: [String: [String: [String]]]]]]

  @Test("a refusal with a long encoding arrives, with a part of it")
  func refusal() async throws {
    let transport = InProcessTransport(maximumPayload: 1024)
    let theirs = try AsyncMessage<Int, Deep, Deep, Deep, Deep, Deep, Deep>("a:b:c:d:e:f:")
    let ours = try AsyncMessage<Int, Int, Int, Int, Int, Int, Int>("a:b:c:d:e:f:")
    var (exposed, sent) = (Interface("long"), Interface("long"))
    try exposed.allow(theirs)
    try sent.allow(ours)
    let encoding = exposed.messages[0].encoding
    #expect(encoding.utf8.count > 1024)
    let host = RemoteHost(transport, as: "long")
    try host.expose(Vault(), exposed)
    let remote = RemoteProxy(sent, transport, at: "long", deadline: .seconds(20))
    let error = await #expect(throws: RemoteError.self) {
      try await ours(1, 2, 3, 4, 5, 6, on: remote)
    }
    guard case .refused(.signatureMismatch, let text) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(text.contains(encoding.prefix(1024 - 20)) && !text.contains(encoding))
    host.close()
  }

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
