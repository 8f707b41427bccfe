// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Foundation
  import ForwardingTestSupport
  import ForwardingTesting
  import Testing

  @Forwardable
  protocol GateDelegate: AnyObject, Sendable {
    @Otherwise(throw: Offline()) func pass(_ name: String) throws(Offline)
    @Otherwise(5) func count(_ name: String) throws -> Int
    func nameLater(_ name: String) async -> String?
  }

  @Suite("A spy behind a proxy")
  struct SpyTests {
    let spy = Spy<ChatDelegateProxy>()
    let chat = Chat("garden")

    @Test("a spy counts calls, and returns their arguments as tuples")
    func received() {
      spy.proxy.chat(chat, didReceive: ChatMessage("one"))
      spy.proxy.chat(chat, didReceive: ChatMessage("two"))
      #expect(spy.messages.chatDidReceive.calls == 2)
      #expect(spy.messages.chatShouldSend.calls == 0)
      #expect(spy.messages.chatDidReceive.received.map(\.1.text) == ["one", "two"])
      #expect(spy.messages.chatDidReceive.received.allSatisfy { $0.0 === chat })
    }

    @Test("without an answer, a proxy returns the default of its requirement")
    func nice() {
      #expect(spy.proxy.chat(chat, shouldSend: ""))
      #expect(spy.proxy.titleOfChat(chat) == nil)
      #expect(throws: ForwardingError.nobodyAnswered("chat:upload:")) {
        try spy.proxy.chat(chat, upload: [1])
      }
      spy.proxy.chat(chat, didReceive: ChatMessage(""))
    }

    @Test("what the protocol says for no answer is no error that is lost, and nothing is reported")
    func quiet() async {
      await #expect(processExitsWith: .success) {
        let events = LockedValue<[String]>([])
        ForwardingEvent.destination = .handler { event in events.withLock { $0.append("\(event)") }
        }
        let (spy, gate) = (Spy<ChatDelegateProxy>(), Spy<GateDelegateProxy>())
        for _ in 0..<2 { require(spy.proxy.chat(Chat("garden"), shouldSend: "")) }
        require(spy.proxy.titleOfChat(Chat("garden")) == nil && spy.proxy.draft == nil)
        require(await gate.proxy.nameLater("") == nil)
        require((try? gate.proxy.count("")) == 5, "a requirement that throws has its '@Otherwise'")
        require((try? gate.proxy.pass("")) == nil, "a guard fails closed")
        require(events.withLock { $0.isEmpty }, "\(events.withLock { $0 })")
        exit(EXIT_SUCCESS)
      }
    }

    @Test("a requirement can be answered with a value, with values in turn, or with an error")
    func values() throws {
      spy.messages.titleOfChat.answer(with: "tulips")
      #expect(spy.proxy.titleOfChat(chat) == "tulips")
      spy.messages.chatShouldSend.answer(inTurn: true, false)
      #expect(
        (0..<4).map { _ in spy.proxy.chat(chat, shouldSend: "") } == [true, false, false, false])
      spy.messages.chatUpload.answer(throwing: Offline())
      #expect(throws: Offline()) { try spy.proxy.chat(chat, upload: [1]) }
    }

    @Test("answers in turn mix values and errors, and an empty list changes nothing")
    func list() {
      let upload = spy.messages.chatUpload
      upload.answer(inTurn: [.success(1), .failure(Offline()), .success(2)])
      upload.answer(inTurn: [])
      let numbers = (0..<4).map { _ in try? spy.proxy.chat(chat, upload: []) }
      #expect(numbers == [1, nil, 2, 2])
    }

    @Test("the newest matching answer is used, and one with a limit ends after that many calls")
    func newest() {
      spy.messages.chatShouldSend.answer(with: false)
      spy.messages.chatShouldSend.answer(times: 2, with: true)
      #expect((0..<3).map { _ in spy.proxy.chat(chat, shouldSend: "") } == [true, true, false])
    }

    @Test("an answer sets an inout argument, and the spy records the value before")
    func variables() throws {
      spy.messages.chatEdit.answer { _, text in try text.change { $0 += "!" } }
      var text = "hello"
      spy.proxy.chat(chat, edit: &text)
      spy.proxy.chat(chat, edit: &text)
      #expect(text == "hello!!")
      #expect(try spy.messages.chatEdit.received.map { try $0.1.value } == ["hello", "hello!"])
    }

    @Test("properties are read and set by messages")
    func properties() {
      spy.messages.draft.answer(with: "dear")
      #expect(spy.proxy.draft == "dear")
      spy.proxy.draft = nil
      spy.proxy.draft = "sir"
      #expect(spy.messages.setDraft.received == [nil, "sir"])
      #expect(spy.messages.draft.calls == 1)
    }

    @Test("an optional requirement is recorded, and can be left out")
    func optional() throws {
      spy.proxy.chatDidBecomeIdle(chat)
      #expect(spy.messages.chatDidBecomeIdle.calls == 1)
      let delegates = Multicast<ChatDelegateProxy>()
      delegates.add(spy.proxy)
      #expect(try delegates.messages.chatDidBecomeIdle.report(chat).answered == 1)
      spy.messages.chatDidBecomeIdle.leaveOut()
      let selector = Selector("chatDidBecomeIdle:")
      #expect(!spy.untyped.responds(to: selector))
      #expect(throws: (any Error).self) { try Message<Void, Chat>(selector)(chat, on: spy.untyped) }
    }

    @Test("calls and answers are removed independently")
    func forgetting() {
      spy.messages.chatShouldSend.answer(with: false)
      #expect(!spy.proxy.chat(chat, shouldSend: ""))
      spy.forgetCalls()
      #expect(spy.messages.chatShouldSend.calls == 0)
      #expect(!spy.proxy.chat(chat, shouldSend: ""))
      spy.forgetAnswers()
      #expect(spy.proxy.chat(chat, shouldSend: ""))
      #expect(spy.messages.chatShouldSend.calls == 2)
    }
  }
#endif
