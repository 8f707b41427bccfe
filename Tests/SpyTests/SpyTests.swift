#if Macros
  import ForwardingTesting
  import Testing

  @Suite("A spy behind a face")
  struct SpyTests {
    let spy = Spy<ChatDelegateProxy>()
    let chat = Chat("garden")

    @Test("it answers as it was told, with the requirement's own types")
    func answers() {
      spy.answer(\.chatShouldSend) { chat, text in text.count < 10 && chat.name == "garden" }
      #expect(spy.face.chat(chat, shouldSend: "hello"))
      #expect(!spy.face.chat(chat, shouldSend: "hello, hello"))
    }

    @Test("it counts calls, and has what they were given as tuples")
    func received() {
      spy.face.chat(chat, didReceive: ChatMessage("one"))
      spy.face.chat(chat, didReceive: ChatMessage("two"))
      #expect(spy.calls(\.chatDidReceive) == 2)
      #expect(spy.calls(\.chatShouldSend) == 0)
      #expect(spy.received(\.chatDidReceive).map(\.1.text) == ["one", "two"])
      #expect(spy.received(\.chatDidReceive).allSatisfy { $0.0 === chat })
    }

    @Test("an expectation that fails is an issue at its own line")
    func line() {
      let line = #line + 2
      withKnownIssue {
        spy.expect(\.chatDidReceive)
      } matching: { issue in
        issue.sourceLocation?.line == line
          && issue.sourceLocation?.fileID == #fileID
          && "\(issue)".contains("expected 1 call of 'chat:didReceive:', received none")
      }
    }
  }
#endif
