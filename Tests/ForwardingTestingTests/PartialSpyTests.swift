// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import ForwardingTesting
  import Testing

  /// The object behind a spy.
  final class Archive: ChatDelegate {
    var lines: [String] = []
    var draft: String? = "real"
    func chat(_ chat: Chat, didReceive message: ChatMessage) { lines.append(message.text) }
    func chat(_ chat: Chat, shouldSend text: String) -> Bool { text != "no" }
    func titleOfChat(_ chat: Chat) -> String? { chat.name }
    func chat(_ chat: Chat, upload file: [UInt8]) throws -> Int {
      if file.isEmpty { throw Offline() }
      return file.count
    }
    func chat(_ chat: Chat, edit text: inout String) { text = text.uppercased() }
    func chat(_ chat: Chat, move row: Int, to other: Int) {}
    func rows(_ first: Int, _ last: Int) {}
    func download(_ name: String) async throws -> Int {
      if name.isEmpty { throw Offline() }
      return name.count
    }
  }

  @Suite("A spy in front of an object")
  struct PartialSpyTests {
    let real = Archive()
    let chat = Chat("garden")

    @Test("calls without an answer are recorded and forwarded to the real object")
    func passes() async throws {
      let spy = Spy<ChatDelegateProxy>(wrapping: real)
      spy.proxy.chat(chat, didReceive: ChatMessage("one"))
      #expect(real.lines == ["one"])
      #expect(!spy.proxy.chat(chat, shouldSend: "no"))
      #expect(spy.proxy.titleOfChat(chat) == "garden")
      #expect(try spy.proxy.chat(chat, upload: [1, 2]) == 2)
      #expect(throws: Offline()) { try spy.proxy.chat(chat, upload: []) }
      #expect(try await spy.proxy.download("hello") == 5)
      await #expect(throws: Offline()) { try await spy.proxy.download("") }
      var text = "loud"
      spy.proxy.chat(chat, edit: &text)
      #expect(text == "LOUD")
      #expect(spy.transcript.count == 8)
    }

    @Test("calls with an answer do not reach the real object, unless the answer forwards them")
    func answers() {
      let spy = Spy<ChatDelegateProxy>(wrapping: real)
      spy.messages.chatShouldSend.answer(with: true)
      #expect(spy.proxy.chat(chat, shouldSend: "no"))
      spy.messages.chatDidReceive.answer { _, _ in }
      spy.messages.chatDidReceive.where(\.1, equals: ChatMessage("two")).answerForReal()
      spy.proxy.chat(chat, didReceive: ChatMessage("one"))
      spy.proxy.chat(chat, didReceive: ChatMessage("two"))
      #expect(real.lines == ["two"])
    }

    @Test("an optional requirement that the real object does not implement has no method")
    func leftOut() throws {
      let spy = Spy<ChatDelegateProxy>(wrapping: real)
      let delegates = Multicast<ChatDelegateProxy>()
      delegates.add(spy.proxy)
      spy.proxy.chatDidBecomeIdle(chat)
      #expect(spy.messages.chatDidBecomeIdle.calls == 1)
      #expect(!spy.untyped.responds(to: "chatDidBecomeIdle:"))
    }

    @Test(
      "a real object that sends calls back to the spy gets an error, and does not end the process")
    func circle() {
      let ring = MulticastProxy(one: nil)
      let spy = SpyProxy(wrapping: ring)
      ring.add(spy)
      #expect(throws: InvocationError.self) { try Message<Int>("count")(on: spy) }
    }
  }
#endif
