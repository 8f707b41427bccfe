// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import FaceProtocols
  import ForwardingTesting
  import Testing

  @Suite("A chat client with several delegates")
  struct ChatClientTests {
    let client = ChatClient()
    let window = ChatWindow()
    let delegates = Multicast<ChatClientDelegateProxy>()
    let garden = Room("garden")

    init() {
      delegates.add(window, strongly: true)
      client.delegate = delegates.face
    }

    @Test("a message is sent to all delegates")
    func telling() throws {
      let spy = Spy<ChatClientDelegateProxy>()
      delegates.add(spy.face)
      client.receive("hello", "there", in: garden)
      #expect(window.seen == ["garden: hello, there"])
      let texts = spy.messages.clientDidReceiveIn.unchecked.received.map { $0.1.map(\.text) }
      #expect(texts == [["hello", "there"]])
      spy.verifyNoMoreCalls()
    }

    @Test("the client does not join if a delegate refuses, in each possible way")
    func refusing() throws {
      #expect(try client.join(Room("attic")) == nil)
      let cellar = Room("cellar")
      #expect(throws: ClientError.refused(cellar)) { try client.join(cellar) }
      window.closed = [garden]
      #expect(throws: ClientError.offline) { try client.join(garden) }
      #expect(client.rooms.isEmpty)
    }

    @Test("the client sends the text that a delegate returned, or the original")
    func sending() {
      client.send(ChatMessage("hello", marks: [7]))
      client.send(ChatMessage(""))
      #expect(client.sent == [ChatMessage("hello!", marks: [7]), ChatMessage("")])
    }

    @Test("enumerations, generic structures, ranges, sets, errors and closures are passed")
    func values() {
      let face = delegates.face
      #expect(face.client(client, moodIn: garden) == .typing(since: 1.5))
      #expect(face.client(client, mark: [1, 2, 3]) == 3)
      face.client(client, didLoad: Page([ChatMessage("a"), ChatMessage("b")], next: 9))
      face.client(client, move: 1, to: 2)
      face.client(client, move: 3...4, to: 5)
      face.client(client, didFailWith: ClientError.offline)
      var confirmed: [Bool] = []
      face.client(client, confirm: "sure?") { confirmed.append($0) }
      #expect(confirmed == [true])
      #expect(
        window.seen == ["page of 2, next 9", "row 1 to 2", "rows 3...4 to 5", "offline"])
    }

    @Test("all returns the moods of all delegates, and a report has the outcomes of a message")
    func asking() throws {
      let log = ChatLog()
      delegates.add(log)
      #expect(
        try delegates.messages.clientMoodIn.all(client, garden) == [.typing(since: 1.5), .calm])
      window.closed = [garden]
      let report = try delegates.messages.clientCredentialFor.report(client, garden)
      #expect(report.answers == [Credential("log", [])])
      #expect(report.errors.first as? ClientError == .offline)
      withExtendedLifetime(log) {}
    }

    @Test("an interceptor may change the text, and replace a delegate")
    func intercepting() throws {
      let watched = Intercepting<ChatClientDelegateProxy>(window)
      watched.messages.clientWillSend.instead { proceed, client, message in
        try proceed(client, ChatMessage("[\(message.text)]"))
      }
      watched.messages.clientOpen.before { _, room in throw ClientError.refused(room) }
      client.delegate = watched.face
      client.send(ChatMessage("hello"))
      #expect(client.sent.map(\.text) == ["[hello]!"])
      #expect(throws: ClientError.refused(garden)) { try client.join(garden) }
    }

    @Test("a delegate on a queue receives copies of the values")
    func queue() {
      let queue = DispatchQueue(label: "chat")
      let log = ChatLog()
      delegates.add(unchecked: log, on: .queue(queue))
      queue.suspend()
      do {
        let messages = (1...3).map { ChatMessage("number \($0)", marks: [$0]) }
        delegates.face.client(client, didReceive: messages, in: garden)
        delegates.face.client(client, didLoad: Page(messages))
        delegates.face.client(client, didFailWith: ClientError.refused(garden))
      }
      queue.resume()
      queue.sync {}
      #expect(log.lines == 5)
    }
  }
#endif
