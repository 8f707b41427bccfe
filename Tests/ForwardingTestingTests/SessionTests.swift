// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingTesting
  import Testing

  @Forwardable
  protocol SessionDelegate: AnyObject {
    func session(_ session: Session, didReceive text: String)
    @Otherwise(true) func session(_ session: Session, shouldSend text: String) -> Bool
    func session(_ session: Session, upload file: [UInt8]) async throws -> Int
  }

  final class Session: Equatable, Sendable {
    static func == (one: Session, other: Session) -> Bool { one === other }

    func send(_ text: String, to delegate: any SessionDelegate) {
      guard delegate.session(self, shouldSend: text) else { return }
      delegate.session(self, didReceive: text)
    }
  }

  @Suite("A session")
  struct SessionTests {
    let spy = Spy<SessionDelegateProxy>()
    let session = Session()

    @Test("asks before it sends, and sends nothing that its delegate refuses")
    func asks() {
      spy.messages.sessionShouldSend.answer { session, text in text.count < 10 }
      session.send("hello", to: spy.proxy)
      session.send("hello, hello", to: spy.proxy)

      #expect(spy.messages.sessionShouldSend.calls == 2)
      #expect(spy.messages.sessionDidReceive.received.map(\.1) == ["hello"])
      spy.verifyInOrder {
        $0.sessionShouldSend.with(session, "hello")
        $0.sessionDidReceive
      }
    }

    @Test("passes the number of an upload on, and what went wrong")
    func uploads() async throws {
      spy.messages.sessionUpload.answer(with: 7)
      spy.messages.sessionUpload.where { $1.isEmpty }.answer(throwing: CancellationError())
      #expect(try await spy.proxy.session(session, upload: [1, 2]) == 7)
      await #expect(throws: CancellationError.self) {
        try await spy.proxy.session(session, upload: [])
      }
      try await spy.messages.sessionUpload.expect(times: 2, within: .seconds(10))
    }
  }
#endif
