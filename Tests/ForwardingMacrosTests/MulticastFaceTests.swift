// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import FaceProtocols
  import ForwardingTesting
  import Invocations
  import Testing

  @Suite("Multicasts of a protocol")
  struct MulticastFaceTests {
    let chat = Chat("garden")
    let delegates = Multicast<ChatDelegateProxy>()

    @Test(
      "the face returns the answers of others if a target on a queue has none",
      arguments: [false, true])
    func questions(ignoring: Bool) throws {
      let queue = DispatchQueue(label: "delegates")
      let (here, there) = (Screen(), Screen())
      defer { withExtendedLifetime((here, there)) {} }
      here.allows = false
      delegates.add(unchecked: there, on: .queue(queue, ignoringResult: ignoring))
      // No target could answer, so the default is used.
      #expect(delegates.face.chat(chat, shouldSend: "text"))
      #expect(throws: ForwardingError.self) { try delegates.face.chat(chat, upload: [1]) }
      delegates.add(here)
      #expect(!delegates.face.chat(chat, shouldSend: "text"))
      #expect(try delegates.face.chat(chat, upload: [1, 2]) == 2)
      queue.sync {}
    }

    @Test("all targets are called, also if the first answer counts")
    func firstAnswer() {
      let (one, other) = (Spy<ChatDelegateProxy>(), Spy<ChatDelegateProxy>())
      for spy in [one, other] { delegates.add(spy.face) }
      delegates.resultRule = .first
      delegates.face.draft = "text"
      delegates.face.chat(chat, didReceive: ChatMessage("hello"))
      verifyInOrder {
        one.messages.setDraft.with("text")
        other.messages.setDraft.with("text")
        one.messages.chatDidReceive
        other.messages.chatDidReceive
      }
    }

    @Test("closures and objects of protocols are passed")
    func values() {
      let screen = Screen("one")
      defer { withExtendedLifetime(screen) {} }
      delegates.add(screen)
      delegates.face.chat(chat) { "performed" }
      #expect(screen.seen == ["performed"])
      #expect(delegates.face.chat(chat, isBeside: Screen("other")) == "other")
    }

    @Test("the face has the properties of the protocol")
    func properties() {
      let screens = [Screen("one"), Screen("two")]
      defer { withExtendedLifetime(screens) {} }
      #expect(delegates.face.unread == 0)
      #expect(delegates.face.draft == nil)
      for screen in screens { delegates.add(screen) }
      delegates.face.draft = "text"
      #expect(screens.map(\.draft) == ["text", "text"])
      #expect(delegates.face.draft == "text")
      #expect(delegates.face.unread == 3)
    }

    @Test("no method is found if a class omits an optional requirement")
    func optional() throws {
      let (screen, titles) = (Screen(), Titles())
      defer { withExtendedLifetime(screen) {} }
      delegates.add(titles)
      delegates.add(screen)
      for _ in 0..<2 {
        #expect(delegates.face.titleOfChat(chat) == "title")
        let report = try Message<Void, Chat>("chatDidBecomeIdle:").deliver(
          chat, on: delegates.proxy)
        #expect(report.entries.map(\.outcome.isAnswer) == [true, false])
        #expect(report.errors.isEmpty)
      }
      #expect(titles.idle == 2)
      delegates.remove(titles)
      #expect(delegates.face.titleOfChat(chat) == nil)
    }

    @Test("an optional requirement that all targets omit is not reported")
    func nobodyHasIt() async {
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let delegates = Multicast<ChatDelegateProxy>()
        let screen = Screen()
        defer { withExtendedLifetime(screen) {} }
        delegates.add(screen)
        for _ in 0..<2 {
          delegates.face.chatDidBecomeIdle(Chat("garden"))
          if delegates.face.titleOfChat(Chat("garden")) != nil { fatalError() }
        }
      }
      #expect(printedLines(result) == [])
    }

    @Test("the proxy may have targets that know selectors")
    func selectors() throws {
      let screen = Screen()
      defer { withExtendedLifetime(screen) {} }
      delegates.add(screen)
      try Message<Void, Chat, ChatMessage>("chat:didReceive:")(
        chat, ChatMessage("from afar"), on: delegates.proxy)
      #expect(screen.seen == ["garden: from afar"])
    }

    @Test("the targets are returned with their types")
    func targets() {
      let screen = Screen()
      defer { withExtendedLifetime(screen) {} }
      let token = delegates.add(screen)
      #expect(delegates.targets.map(\.unread) == [3])
      #expect(delegates.contains(screen))
      #expect(delegates.remove(token))
      #expect(!delegates.contains(screen))
    }

  }
#endif
