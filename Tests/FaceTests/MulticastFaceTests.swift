#if Macros
  import Dispatch
  import FaceProtocols
  import ForwardingTesting
  import Invocations
  import Testing

  @Suite("A multicast of a protocol")
  struct MulticastFaceTests {
    let chat = Chat("garden")
    let delegates = Multicast<ChatDelegateProxy>()

    @Test("tells all targets, in order")
    func order() {
      var order: [String] = []
      let targets = ["one", "two", "three"].map { Screen($0) { order.append($0) } }
      defer { withExtendedLifetime(targets) {} }
      for target in targets { delegates.add(target) }
      delegates.face.chat(chat, didReceive: ChatMessage("hello"))
      #expect(order == ["one", "two", "three"])
      #expect(targets.allSatisfy { $0.seen == ["garden: hello"] })
    }

    @Test("is an object of the protocol to any API")
    func anyObject() {
      let screen = Screen()
      defer { withExtendedLifetime(screen) {} }
      delegates.add(screen)
      let delegate: any ChatDelegate = delegates.face
      delegate.chat(chat, didReceive: ChatMessage("hello"))
      #expect(screen.seen.count == 1)
    }

    @Test("answers what was said, when nobody does")
    func otherwise() {
      #expect(delegates.face.chat(chat, shouldSend: "text"))
      let screen = Screen()
      defer { withExtendedLifetime(screen) {} }
      screen.allows = false
      delegates.add(screen)
      #expect(!delegates.face.chat(chat, shouldSend: "text"))
    }

    @Test("does not keep its targets")
    func weak() {
      var screen: Screen? = Screen()
      delegates.add(screen!)
      #expect(delegates.count == 1)
      screen = nil
      #expect(delegates.isEmpty)
      delegates.face.chat(chat, didReceive: ChatMessage("hello"))
    }

    @Test("tells a target on its queue")
    func queue() {
      let queue = DispatchQueue(label: "delegates")
      let spy = Spy<ChatDelegateProxy>()
      delegates.add(unchecked: spy.face, on: .queue(queue))
      queue.suspend()
      delegates.face.chat(chat, didReceive: ChatMessage("later"))
      #expect(spy.calls(\.chatDidReceive) == 0)
      queue.resume()
      queue.sync {}
      #expect(spy.received(\.chatDidReceive).map(\.1.text) == ["later"])
    }

    @Test(
      "gives the answers of others where a target on a queue has none", arguments: [false, true])
    func questions(ignoring: Bool) throws {
      let queue = DispatchQueue(label: "delegates")
      let (here, there) = (Screen(), Screen())
      defer { withExtendedLifetime((here, there)) {} }
      here.allows = false
      delegates.add(unchecked: there, on: .queue(queue, ignoringResult: ignoring))
      // Nobody who could answer: what was said for that.
      #expect(delegates.face.chat(chat, shouldSend: "text"))
      #expect(throws: ForwardingError.self) { try delegates.face.chat(chat, upload: [1]) }
      delegates.add(here)
      #expect(!delegates.face.chat(chat, shouldSend: "text"))
      #expect(try delegates.face.chat(chat, upload: [1, 2]) == 2)
      queue.sync {}
    }

    @Test("tells all, also where the first answer counts")
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

    @Test("passes on what a requirement throws")
    func throwing() throws {
      let screen = Screen()
      defer { withExtendedLifetime(screen) {} }
      #expect(throws: ForwardingError.self) { try delegates.face.chat(chat, upload: [1]) }
      delegates.add(screen)
      #expect(try delegates.face.chat(chat, upload: [1, 2]) == 2)
      #expect(throws: Refusal.self) { try delegates.face.chat(chat, upload: []) }
    }

    @Test("passes on closures and objects of protocols")
    func values() {
      let screen = Screen("one")
      defer { withExtendedLifetime(screen) {} }
      delegates.add(screen)
      delegates.face.chat(chat) { "performed" }
      #expect(screen.seen == ["performed"])
      #expect(delegates.face.chat(chat, isBeside: Screen("other")) == "other")
    }

    @Test("has the properties of the protocol")
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

    @Test("finds no method where a class left out an optional requirement")
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

    @Test("says nothing of an optional requirement that nobody has")
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

    @Test("tells the proxy of an error that a requirement cannot throw")
    func unheard() throws {
      let heard = Guarded<[String]>([])
      delegates.onDiagnostic = { diagnostic in
        if case .unheard(let selector, let error) = diagnostic {
          heard.withLock { $0.append("\(selector) \(error is Refusal)") }
        }
      }
      let target = ClosureTarget()
      try target.register("chat:shouldSend:") { (_: Chat, _: String) throws -> Bool in
        throw Refusal()
      }
      delegates.proxy.add(target)
      #expect(delegates.face.chat(chat, shouldSend: "text"))
      #expect(heard.read { $0 } == ["chat:shouldSend: true"])
    }

    @Test("shares its proxy with targets that know selectors")
    func selectors() throws {
      let screen = Screen()
      defer { withExtendedLifetime(screen) {} }
      delegates.add(screen)
      try Message<Void, Chat, ChatMessage>("chat:didReceive:")(
        chat, ChatMessage("from afar"), on: delegates.proxy)
      #expect(screen.seen == ["garden: from afar"])
    }

    @Test("may stand for others in another one")
    func nested() {
      let all = Multicast<ChatDelegateProxy>()
      let screen = Screen()
      defer { withExtendedLifetime(screen) {} }
      delegates.add(screen)
      all.add(delegates.face)
      all.face.chat(chat, didReceive: ChatMessage("hello"))
      #expect(screen.seen == ["garden: hello"])
    }

    @Test("gives its targets back as what they are")
    func targets() {
      let screen = Screen()
      defer { withExtendedLifetime(screen) {} }
      let token = delegates.add(screen)
      #expect(delegates.targets.map(\.unread) == [3])
      #expect(delegates.contains(screen))
      #expect(delegates.remove(token))
      #expect(!delegates.contains(screen))
    }

    @Test("of a protocol on the main actor is there as well")
    @MainActor
    func mainActor() async {
      let views = Multicast<ViewDelegateProxy>()
      let view = View()
      views.add(view)
      views.face.show("text")
      #expect(view.shown == ["text"])
      #expect(views.face.height == 10)
      let proxy = views.proxy
      await Task.detached {
        _ = #expect(throws: ForwardingError.wrongIsolation("show:")) {
          try Message<Void, String>("show:")("from elsewhere", on: proxy)
        }
      }.value
      #expect(view.shown == ["text"])
    }
  }
#endif
