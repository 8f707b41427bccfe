// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import ForwardingTestSupport
  import ForwardingTesting
  import Testing

  @Forwardable
  protocol Adding: AnyObject, Sendable {
    func none() async -> Int?
    func one(_ a: Int) async -> Int?
    func two(_ a: Int, _ b: Int) async -> Int?
    func six(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int) async -> Int?
  }

  @Suite("Waiting for calls")
  struct AwaitingTests {
    let spy = Spy<ChatDelegateProxy>()
    let chat = Chat("garden")

    @Test("a suspending closure with any number of arguments answers all calls, or some of them")
    func suspends() async {
      let spy = Spy<AddingProxy>()
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
    }

    @Test(
      "a closure that does not suspend, a value or an error answers an async requirement")
    func answersAtOnce() async throws {
      spy.messages.download.answer { $0.count }
      #expect(try await spy.proxy.download("hello") == 5)
      spy.messages.download.answer(with: 7)
      #expect(try await spy.proxy.download("hello") == 7)
      spy.messages.download.answer(throwing: Offline())
      await #expect(throws: Offline()) { try await spy.proxy.download("hello") }
    }

    @Test("a call that does not come in time is a failure with the length of the wait")
    func tooLate() async throws {
      let failures = Failures()
      let spy = Spy<ChatDelegateProxy>(reportingTo: failures)
      let begin = ContinuousClock.now
      let isMet = try await spy.messages.rows.expect(times: 2, within: .milliseconds(30))
      #expect(!isMet)
      #expect(ContinuousClock.now - begin >= .milliseconds(30))
      #expect(
        failures.texts == ["expected 2 calls of 'rows::' within 0.03 seconds, received none"])
    }

    @Test("an expectation of no calls waits for the whole duration, and fails at the first call")
    func none() async throws {
      let failures = Failures()
      let spy = Spy<ChatDelegateProxy>(reportingTo: failures)
      let begin = ContinuousClock.now
      try await spy.messages.rows.expect(times: 0, within: .milliseconds(20))
      #expect(ContinuousClock.now - begin >= .milliseconds(20))
      #expect(failures.all.isEmpty)
      let proxy = UncheckedBox(spy.proxy)
      beginThread(after: 0.01) { proxy.value.rows(1, 2) }
      let isMet = try await spy.messages.rows.expect(times: 0, within: .seconds(600))
      #expect(!isMet)
      #expect(failures.all.map(\.expected) == ["no call of 'rows::' within 600.0 seconds"])
    }

    @Test("a cancelled wait ends, and throws CancellationError")
    func cancelled() async {
      let untyped = spy.untyped
      let task = Task {
        try await untyped[Message<NoResult>("never")].expect(within: .seconds(600))
      }
      try? await Task.sleep(for: .milliseconds(5))
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      let early = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await untyped[Message<NoResult>("never")].expect(within: .seconds(600))
      }
      await #expect(throws: CancellationError.self) { try await early.value }
    }
  }

  struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }
#endif
