#if Macros
  import Dispatch
  import ForwardingTesting
  import Testing

  @Suite("What a test waits for")
  struct AwaitingTests {
    let spy = Spy<ChatDelegateProxy>()
    let chat = Chat("garden")

    @Test("an async requirement is answered by a closure that suspends")
    func suspends() async throws {
      spy.answer(
        \.download,
        awaiting: { name in
          await Task.yield()
          return name.count
        })
      #expect(try await spy.face.download("hello") == 5)
      #expect(spy.received(\.download) == ["hello"])
    }

    @Test(
      "an async requirement is answered by a closure that does not, by a value, and by an error")
    func answersAtOnce() async throws {
      spy.answer(\.download) { $0.count }
      #expect(try await spy.face.download("hello") == 5)
      spy.answer(\.download, with: 7)
      #expect(try await spy.face.download("hello") == 7)
      spy.answer(\.download, throwing: Offline())
      await #expect(throws: Offline()) { try await spy.face.download("hello") }
    }

    @Test("a call that comes later is waited for")
    func later() async throws {
      let face = UncheckedBox(spy.face)
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) {
        let chat = Chat("later")
        face.value.chat(chat, didReceive: ChatMessage("one"))
        face.value.chat(chat, didReceive: ChatMessage("two"))
      }
      #expect(try await spy.expect(\.chatDidReceive, times: 2, within: .seconds(20)))
      #expect(spy.received(\.chatDidReceive).map(\.1.text) == ["one", "two"])
    }
  }

  struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }
#endif
