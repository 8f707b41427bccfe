// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Foundation
  import ForwardingTestSupport
  import ForwardingTesting
  import Invocations
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

  /// The object behind a spy.
  private final class Archive: ChatDelegate {
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

  @Suite("A spy behind a proxy")
  struct SpyTests {
    let spy = Spy<ChatDelegateProxy>()
    let chat = Chat("garden")

    @Test("a spy counts calls, and returns their arguments as tuples: of all, or of selected calls")
    func received() {
      spy.proxy.chat(chat, didReceive: ChatMessage("one"))
      #expect(spy.messages.chatShouldSend.calls == 0)
      #expect(spy.messages.chatDidReceive.received.map(\.1.text) == ["one"])
      #expect(spy.messages.chatDidReceive.received.allSatisfy { $0.0 === chat })
      for (first, last) in [(1, 1), (1, 2), (2, 2)] { spy.proxy.rows(first, last) }
      let rows = spy.messages.rows
      #expect(rows.calls == 3)
      #expect(rows.where { $0 == $1 }.calls == 2)
      #expect(rows.with(1, 2).calls == 1)
      #expect(rows.where(\.1, equals: 2).received.map(\.0) == [1, 2])
      #expect(rows.where(\.0, equals: 1).where { $1 > 1 }.received.map(\.1) == [2])
      // A closure that throws does not match.
      let some = rows.where { first, _ in
        if first == 1 { return true }
        throw Offline()
      }
      #expect(some.calls == 2)
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
        require(await gate.proxy.none() == nil)
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

    @Test("a suspending closure with any number of arguments answers all calls, or some of them")
    func suspends() async {
      let spy = Spy<GateDelegateProxy>()
      @Sendable func late(_ number: Int) async -> Int {
        await Task.yield()
        return number
      }
      spy.messages.none.answer(awaiting: { _ in await late(0) })
      spy.messages.one.answer(awaiting: { _, a in await late(a) })
      spy.messages.two.with(1, 2).answer(awaiting: { _, a, b in await late(a + b) })
      spy.messages.six.answer(
        times: 1, awaiting: { _, a, b, c, d, e, f in await late(a + b + c + d + e + f) })
      let proxy = spy.proxy
      #expect(
        await [proxy.none(), proxy.one(1), proxy.two(1, 2), proxy.two(2, 1)] == [0, 1, 3, nil])
      #expect(await proxy.six(1, 2, 3, 4, 5, 6) == 21)
      #expect(await proxy.six(1, 2, 3, 4, 5, 6) == nil)
      #expect(spy.messages.two.received.map(\.1) == [2, 1])
      // Other answers are given at once.
      spy.messages.one.answer { $0 + 1 }
      #expect(await proxy.one(1) == 2)
      spy.messages.one.answer(with: 7)
      #expect(await proxy.one(1) == 7)
    }

    @Test("typed errors reach the caller, and an answer on any thread can call its arguments")
    func errorsAndClosures() async throws {
      let spy = Spy<GateDelegateProxy>()
      spy.messages.count.answer(throwing: Offline())
      #expect(throws: Offline()) { try spy.proxy.count("") }
      spy.messages.callThen.answer { name, then in then(name.count) }
      let length = await withCheckedContinuation { done in
        Task.detached { spy.proxy.call("hello") { done.resume(returning: $0) } }
      }
      #expect(length == 5)
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

    @Test(
      "an optional requirement is recorded, and has no method if it, or the object, leaves it out")
    func optional() throws {
      let selector = Selector("chatDidBecomeIdle:")
      for spy in [spy, Spy<ChatDelegateProxy>(wrapping: Archive())] {
        spy.proxy.chatDidBecomeIdle(chat)
        #expect(spy.messages.chatDidBecomeIdle.calls == 1)
        let isThere = spy === self.spy
        #expect(spy.untyped.responds(to: selector) == isThere)
        let delegates = Multicast<ChatDelegateProxy>()
        delegates.add(spy.proxy)
        #expect(
          try delegates.messages.chatDidBecomeIdle.report(chat).answered == (isThere ? 1 : 0))
        spy.messages.chatDidBecomeIdle.leaveOut()
        #expect(!spy.untyped.responds(to: selector))
        #expect(throws: (any Error).self) {
          try Message<Void, Chat>(selector)(chat, on: spy.untyped)
        }
      }
    }

    @Test(
      "a spy can have a proxy on the main actor, that is an actor, or that inherits requirements")
    @MainActor func kinds() async throws {
      let page = Spy<PageDelegateProxy>()
      page.messages.heightOf.answer { $0.count }
      page.messages.load.answer(with: "text")
      #expect(page.proxy.height(of: "four") == 4)
      #expect(await page.proxy.load("page") == "text")
      #expect(page.messages.load.received == ["page"])

      let ledger = Spy<LedgerDelegateProxy>()
      ledger.messages.enter.answer(inTurn: 5, 7)
      #expect(try await ledger.proxy.enter(5) == 5)
      #expect(try await ledger.proxy.enter(2) == 7)
      ledger.proxy.hint("hello")
      #expect(ledger.messages.hint.received == ["hello"])
      #expect(ledger.messages.enter.received == [5, 2])

      let book = Spy<BookDelegateProxy>()
      book.messages.pages.answer(with: 100)
      book.messages.chatShouldSend.answer(with: false)
      #expect(book.proxy.pages() == 100)
      #expect(!book.proxy.chat(chat, shouldSend: ""))
      #expect(book.messages.chatShouldSend.calls == 1)
    }

    @Test("calls without an answer are recorded and forwarded to the real object")
    func passes() async throws {
      let real = Archive()
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
      // Calls with an answer do not reach it, unless the answer forwards them.
      spy.messages.chatShouldSend.answer(with: true)
      #expect(spy.proxy.chat(chat, shouldSend: "no"))
      spy.messages.chatDidReceive.answer { _, _ in }
      spy.messages.chatDidReceive.where(\.1, equals: ChatMessage("two")).answerForReal()
      spy.proxy.chat(chat, didReceive: ChatMessage("one"))
      spy.proxy.chat(chat, didReceive: ChatMessage("two"))
      #expect(real.lines == ["one", "two"])
    }
  }
#endif
