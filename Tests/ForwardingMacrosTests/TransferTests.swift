// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ProxyProtocols
  import Forwarding
  import Invocations
  import Testing

  /// Implements a method of each protocol.
  private final class Downloads: DownloadDelegate {
    let seen = Guarded<[String]>([])
    private func add(_ text: String) { seen.withLock { $0.append(text) } }

    func session(_ session: TransferSession, didBecomeInvalidWith error: (any Error)?) {
      add("invalid \(error == nil)")
    }
    func session(
      _ session: TransferSession, task: TransferTask, didSend bytes: Int64, total: Int64,
      expected: Int64
    ) {
      add("\(task.number) sent \(bytes) of \(expected)")
    }
    func session(
      _ session: TransferSession, download: DownloadTask, didFinishAt path: String
    ) {
      add("\(download.number) at \(path)")
    }
  }

  /// Implements only one method of the first protocol.
  private final class Challenges: TransferSessionDelegate {
    func session(
      _ session: TransferSession, didReceiveChallenge host: String,
      completion: @escaping @Sendable (ChallengeAnswer, String?) -> Void
    ) {
      completion(host == "home" ? .proceed : .cancel, "secret")
    }
  }

  @Suite("Protocols that inherit others")
  struct TransferTests {
    let session = TransferSession()
    let delegates = Multicast<DownloadDelegateProxy>()
    private let downloads = Downloads()

    init() { delegates.add(downloads, strongly: true) }

    @Test("a proxy answers for all inherited protocols")
    func inherited() {
      let proxy: any TransferSessionDelegate = delegates.proxy
      proxy.session(session, didBecomeInvalidWith: nil)
      (delegates.proxy as any TransferTaskDelegate).session(
        session, task: TransferTask(1), didSend: 5, total: 5, expected: 10)
      delegates.proxy.session(session, download: DownloadTask(2), didFinishAt: "/tmp")
      #expect(downloads.seen.read { $0 } == ["invalid true", "1 sent 5 of 10", "2 at /tmp"])
    }

    @Test("the messages of all inherited protocols exist")
    func messages() throws {
      #expect(
        try delegates.messages.sessionDidBecomeInvalidWith.all(session, nil).count == 1)
      #expect(
        try delegates.messages.sessionDownloadDidFinishAt.report(session, DownloadTask(3), "x")
          .answered == 1)
      let watched = Intercepting<DownloadDelegateProxy>(downloads)
      let bytes = Guarded<Int64>(0)
      watched.messages.sessionTaskDidSendTotalExpected.before { _, _, sent, _, _ in
        bytes.withLock { $0 += sent }
      }
      watched.proxy.session(session, task: TransferTask(1), didSend: 7, total: 7, expected: 9)
      #expect(bytes.read { $0 } == 7)
    }

    @Test("a proxy of the derived protocol can be used as the base protocol")
    func derivedAsTarget() {
      let sessions = Multicast<TransferSessionDelegateProxy>()
      let answers = Guarded<[String]>([])
      sessions.add(delegates.proxy)
      sessions.add(Challenges(), strongly: true)
      sessions.proxy.session(session, didReceiveChallenge: "home") { answer, secret in
        answers.withLock { $0.append("\(answer) \(secret ?? "")") }
      }
      sessions.proxy.session(session, didBecomeInvalidWith: ForwardingError.nobodyAnswered(nil))
      #expect(answers.read { $0 } == ["proceed secret"])
      #expect(downloads.seen.read { $0 } == ["invalid false"])
    }

    @Test("several protocols of other modules may be inherited")
    func several() {
      let all = Multicast<ConsoleProxy>()
      let console = ConsoleWindow()
      all.add(console, strongly: true)
      all.proxy.draft = "text"
      all.proxy.print("line")
      all.proxy.session(session, didBecomeInvalidWith: nil)
      #expect(all.proxy.unread == 7)
      #expect(console.draft == "text")
      #expect(console.lines.read { $0 } == ["line", "invalid"])
    }
  }

  @Forwardable
  protocol Console: ChatDelegate & TransferSessionDelegate {
    func print(_ line: String)
  }

  private final class ConsoleWindow: Console, @unchecked Sendable {
    let lines = Guarded<[String]>([])
    var draft: String?
    let unread = 7
    func print(_ line: String) { lines.withLock { $0.append(line) } }
    func session(_ session: TransferSession, didBecomeInvalidWith error: (any Error)?) {
      lines.withLock { $0.append("invalid") }
    }
    func chat(_ chat: Chat, didReceive message: ChatMessage) {}
    func chat(_ chat: Chat, shouldSend text: String) -> Bool { true }
    func chat(_ chat: Chat, upload file: [UInt8]) throws -> Int { 0 }
    func chat(_ chat: Chat, perform action: @escaping () -> String) {}
    func chat(_ chat: Chat, isBeside other: any ChatDelegate) -> String? { nil }
  }
#endif
