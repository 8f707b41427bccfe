// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ProxyProtocols
  import Forwarding
  import ForwardingTestSupport
  import Invocations
  import Testing

  @Suite("Messages of a protocol to many targets")
  struct MulticastMessageTests {
    let chat = Chat("garden")
    let delegates = Multicast<ChatDelegateProxy>()
    let screen = Screen()
    let titles = Titles()

    init() {
      screen.allows = false
      delegates.add(screen, strongly: true)
      delegates.add(titles, strongly: true)
    }

    @Test("a report has the outcomes, with typed answers")
    func report() throws {
      let report = try delegates.messages.chatShouldSend.report(chat, "text")
      #expect(report.answers == [false, true])
      #expect(report.entries.map(\.answer) == [false, true])
      #expect(report.answered == 2)
      let upload = try delegates.messages.chatUpload.report(chat, [])
      #expect(upload.answers == [0])
      #expect(upload.errors.first is Refusal)
    }

    @Test("a report of a message without a result has the targets that omit it")
    func reportVoid() throws {
      for _ in 0..<2 {
        let report = try delegates.messages.chatDidBecomeIdle.report(chat)
        #expect(report.answers.count == 1)
        #expect(report.entries.map { $0.answer != nil } == [false, true])
        #expect(report.entries.map(\.outcome.isAnswer) == [false, true])
      }
      #expect(titles.idle == 2)
    }

    @Test("a property is set on all targets, by the proxy and by a message")
    func setting() throws {
      #expect(delegates.proxy.draft == nil)
      #expect(try delegates.messages.setDraft.all("text").count == 2)
      #expect([screen.draft, titles.draft] == ["text", "text"])
      delegates.proxy.draft = "other"
      #expect([screen.draft, titles.draft] == ["other", "other"])
      #expect(delegates.proxy.draft == "other")
    }

    @Test(
      "an optional requirement that all targets omit is not reported, nor is one of a single target"
    )
    func nobodyHasIt() async {
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let delegates = Multicast<ChatDelegateProxy>()
        let screen = Screen()
        defer { withExtendedLifetime(screen) {} }
        delegates.add(screen)
        let single = SingleTarget<ChatDelegateProxy>(screen)
        for _ in 0..<2 {
          delegates.proxy.chatDidBecomeIdle(Chat("garden"))
          if delegates.proxy.titleOfChat(Chat("garden")) != nil { fatalError() }
          single.proxy.chatDidBecomeIdle(Chat("garden"))
          if single.proxy.titleOfChat(Chat("garden")) != nil { fatalError() }
        }
      }
      #expect(printedLines(result) == [])
    }
  }

  @Suite("Interception of messages of a protocol")
  struct InterceptedMessageTests {
    let chat = Chat("garden")
    let screen = Screen()

    @Test("a 'before' handler sees the arguments, and may end the message")
    func before() {
      let watched = Intercepting<ChatDelegateProxy>(screen)
      watched.messages.chatUpload.before { chat, file in
        if file.count > 2 { throw Refusal() }
      }
      #expect(try! watched.proxy.chat(chat, upload: [1]) == 1)
      #expect(throws: Refusal.self) { try watched.proxy.chat(chat, upload: [1, 2, 3]) }
    }

    @Test("a handler around the target may answer, or send on other arguments")
    func around() {
      let watched = Intercepting<ChatDelegateProxy>(screen)
      watched.messages.chatDidReceive.around { proceed, chat, message in
        try proceed(chat, ChatMessage(message.text.uppercased()))
      }
      let token = watched.messages.unread.around { proceed in try proceed() * 10 }
      watched.messages.titleOfChat.around { proceed, chat in (try? proceed(chat)) ?? chat.name }
      watched.proxy.chat(chat, didReceive: ChatMessage("hello"))
      #expect(screen.seen == ["garden: HELLO"])
      #expect(watched.proxy.unread == 30)
      #expect(watched.proxy.titleOfChat(chat) == "garden")
      #expect(token.remove())
      #expect(watched.proxy.unread == 3)
    }

    @Test("an 'after' handler sees the answer")
    func after() {
      let watched = Intercepting<ChatDelegateProxy>(screen)
      let seen = Guarded<[String]>([])
      watched.messages.chatShouldSend.after { answer, chat, text in
        seen.withLock { $0.append("\(chat.name) \(text) \(answer)") }
      }
      watched.messages.chatDidReceive.after { chat, message in
        seen.withLock { $0.append(message.text) }
      }
      watched.messages.setDraft.after { draft in seen.withLock { $0.append(draft ?? "") } }
      _ = watched.proxy.chat(chat, shouldSend: "text")
      watched.proxy.chat(chat, didReceive: ChatMessage("hello"))
      watched.proxy.draft = "draft"
      #expect(seen.read { $0 } == ["garden text true", "hello", "draft"])
    }

    @Test("the target is retained, or held weakly, and then a handler may answer without it")
    func gone() {
      #expect(Intercepting<ChatDelegateProxy>(Screen()).proxy.unread == 3)
      let watched = Intercepting<ChatDelegateProxy>(Screen(), strongly: false)
      #expect(watched.proxy.unread == 0)
      watched.messages.unread.around { _ in 7 }
      #expect(watched.proxy.unread == 7)
    }

    @Test("handlers run without a lock; a message uses the handlers at its beginning")
    func reentrant() {
      let watched = Intercepting<ChatDelegateProxy>(screen)
      let (untyped, added) = (watched.untyped, Guarded(0))
      untyped.before { [unowned untyped] _ in
        untyped.before { _ in added.withLock { $0 += 1 } }
      }
      for _ in 0..<3 { _ = watched.proxy.unread }
      #expect(added.read { $0 } == 3)
    }
  }
#endif
