// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingTesting
  import Testing

  @Forwardable
  @MainActor
  protocol PageDelegate: AnyObject {
    @Otherwise(0) func height(of page: String) -> Int
    func load(_ page: String) async -> String?
  }

  @Forwardable
  protocol LedgerDelegate: Actor {
    func enter(_ amount: Int) async throws -> Int
    nonisolated func hint(_ text: String)
  }

  @Forwardable
  protocol BookDelegate: ChatDelegate {
    @Otherwise(-1) func pages() -> Int
  }

  enum Late: Error, Equatable { case today, tomorrow }

  @Forwardable
  protocol PostDelegate: AnyObject, Sendable {
    @Otherwise(0) func weigh(_ letter: String) throws(Late) -> Int
    func call(_ name: String, then: @escaping @Sendable (Int) -> Void)
  }

  @Suite("Spies of each kind of proxy")
  struct ProxyKindTests {
    @Test("a spy can have a proxy on the main actor")
    @MainActor func mainActor() async {
      let spy = Spy<PageDelegateProxy>()
      spy.messages.heightOf.answer { $0.count }
      spy.messages.load.answer(with: "text")
      #expect(spy.proxy.height(of: "four") == 4)
      #expect(await spy.proxy.load("page") == "text")
      #expect(spy.messages.load.received == ["page"])
    }

    @Test("a spy can have a proxy that is an actor")
    func actor() async throws {
      let spy = Spy<LedgerDelegateProxy>()
      spy.messages.enter.answer(inTurn: 5, 7)
      #expect(try await spy.proxy.enter(5) == 5)
      #expect(try await spy.proxy.enter(2) == 7)
      spy.proxy.hint("hello")
      #expect(spy.messages.hint.received == ["hello"])
      #expect(spy.messages.enter.received == [5, 2])
    }

    @Test("a spy can have a proxy that inherits requirements")
    func inherited() {
      let spy = Spy<BookDelegateProxy>()
      spy.messages.pages.answer(with: 100)
      spy.messages.chatShouldSend.answer(with: false)
      #expect(spy.proxy.pages() == 100)
      #expect(!spy.proxy.chat(Chat("garden"), shouldSend: ""))
      #expect(spy.messages.chatShouldSend.calls == 1)
    }

    @Test("typed errors reach the caller, and an answer on any thread can call its arguments")
    func errorsAndClosures() async throws {
      let spy = Spy<PostDelegateProxy>()
      #expect(try spy.proxy.weigh("") == 0)
      spy.messages.weigh.answer(throwing: Late.tomorrow)
      #expect(throws: Late.tomorrow) { try spy.proxy.weigh("") }
      spy.messages.callThen.answer { name, then in then(name.count) }
      let length = await withCheckedContinuation { done in
        Task.detached { spy.proxy.call("hello") { done.resume(returning: $0) } }
      }
      #expect(length == 5)
    }
  }
#endif
