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
        do {
          _ = try spy.proxy.chat(Chat("garden"), upload: [1])
          require(false, "there is no default")
        } catch { require(error as? ForwardingError == .nobodyAnswered("chat:upload:")) }
        spy.proxy.chat(Chat("garden"), didReceive: ChatMessage(""))
        require(events.withLock { $0.isEmpty }, "\(events.withLock { $0 })")
        exit(EXIT_SUCCESS)
      }
    }

    @Test("the newest matching answer with calls left is given, and without one there is none")
    func answers() {
      let files: [[UInt8]] = [[], [1], [1, 2], []]
      func gives(
        _ expected: [Int?], _ set: (SpiedMessage<Int, Chat, [UInt8]>) -> Void
      ) {
        let spy = Spy<ChatDelegateProxy>()
        set(spy.messages.chatUpload)
        #expect(files.map { try? spy.proxy.chat(chat, upload: $0) } == expected)
      }
      gives([nil, nil, nil, nil]) { _ in }
      gives([7, 7, 7, 7]) { $0.answer(with: 7) }
      gives([0, 1, 2, 0]) { $0.answer { _, file in file.count } }
      gives([nil, nil, nil, nil]) { $0.answer(throwing: Offline()) }
      gives([1, 2, 2, 2]) { $0.answer(inTurn: 1, 2) }
      gives([1, nil, 2, 2]) {
        $0.answer(inTurn: [.success(1), .failure(Offline()), .success(2)])
        $0.answer(inTurn: [])
      }
      gives([2, 2, 1, 1]) {
        $0.answer(with: 1)
        $0.answer(times: 2, with: 2)
      }
      gives([2, 1, 1, 2]) {
        $0.answer(with: 1)
        $0.where { $1.isEmpty }.answer(with: 2)
      }
      // Only the matching calls take a turn.
      gives([1, nil, nil, 2]) { $0.where(\.1, equals: []).answer(inTurn: 1, 2) }
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
