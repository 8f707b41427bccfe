// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ForwardingTestSupport
  import ForwardingTesting
  import Testing

  @Suite("Waiting for calls")
  struct AwaitingTests {
    let spy = Spy<ChatDelegateProxy>()
    let chat = Chat("garden")

    @Test("a suspending closure answers an async requirement")
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
      "a closure that does not suspend, a value or an error answers an async requirement")
    func answersAtOnce() async throws {
      spy.answer(\.download) { $0.count }
      #expect(try await spy.face.download("hello") == 5)
      spy.answer(\.download, with: 7)
      #expect(try await spy.face.download("hello") == 7)
      spy.answer(\.download, throwing: Offline())
      await #expect(throws: Offline()) { try await spy.face.download("hello") }
    }

    @Test("an expectation waits for a call that comes later")
    func later() async throws {
      let face = UncheckedBox(spy.face)
      beginThread(after: 0.02) {
        let chat = Chat("later")
        face.value.chat(chat, didReceive: ChatMessage("one"))
        face.value.chat(chat, didReceive: ChatMessage("two"))
      }
      #expect(try await spy.expect(\.chatDidReceive, times: 2, within: .seconds(300)))
      #expect(spy.received(\.chatDidReceive).map(\.1.text) == ["one", "two"])
    }

    @Test("a call that does not come in time is a failure with the length of the wait")
    func tooLate() async throws {
      let failures = Failures()
      let spy = Spy<ChatDelegateProxy>(reportingTo: failures)
      let begin = ContinuousClock.now
      let isMet = try await spy.expect(\.rows, times: 2, within: .milliseconds(30))
      #expect(!isMet)
      #expect(ContinuousClock.now - begin >= .milliseconds(30))
      #expect(
        failures.texts == ["expected 2 calls of 'rows::' within 0.03 seconds, received none"])
    }

    @Test("an expectation does not wait for a call that was already received")
    func already() async throws {
      spy.face.rows(1, 2)
      let begin = ContinuousClock.now
      try await spy.expect(\.rows, within: .seconds(600))
      #expect(ContinuousClock.now - begin < .seconds(300))
    }

    @Test("an expectation of no calls waits for the whole duration, and fails at the first call")
    func none() async throws {
      let failures = Failures()
      let spy = Spy<ChatDelegateProxy>(reportingTo: failures)
      let begin = ContinuousClock.now
      try await spy.expect(\.rows, times: 0, within: .milliseconds(20))
      #expect(ContinuousClock.now - begin >= .milliseconds(20))
      #expect(failures.all.isEmpty)
      let face = UncheckedBox(spy.face)
      beginThread(after: 0.01) { face.value.rows(1, 2) }
      let isMet = try await spy.expect(\.rows, times: 0, within: .seconds(600))
      #expect(!isMet)
      #expect(failures.all.map(\.expected) == ["no call of 'rows::' within 600.0 seconds"])
    }

    @Test("an expectation of a narrowed message waits only for matching calls")
    func narrowed() async throws {
      let face = UncheckedBox(spy.face)
      beginThread { for row in 0..<5 { face.value.rows(row, row) } }
      try await spy.messages.rows.with(4, 4).expect(within: .seconds(300))
      #expect(spy.calls(\.rows) == 5)
    }

    @Test("a cancelled wait ends, and throws CancellationError")
    func cancelled() async {
      let proxy = spy.proxy
      let task = Task {
        try await proxy[Message<NoResult>("never")].expect(within: .seconds(600))
      }
      try? await Task.sleep(for: .milliseconds(5))
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      let early = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await proxy[Message<NoResult>("never")].expect(within: .seconds(600))
      }
      await #expect(throws: CancellationError.self) { try await early.value }
    }
  }

  struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }
#endif
