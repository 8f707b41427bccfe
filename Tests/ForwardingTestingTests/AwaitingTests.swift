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
    let failures = Failures()

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
      // Other answers are given at once.
      spy.messages.one.answer { $0 + 1 }
      #expect(await proxy.one(1) == 2)
      spy.messages.one.answer(with: 7)
      #expect(await proxy.one(1) == 7)
    }

    @Test("a wait for calls or for none lasts its whole duration, or until the first wrong call")
    func durations() async throws {
      let spy = Spy<ChatDelegateProxy>(reportingTo: failures)
      for (times, isMet) in [(0, true), (2, false)] {
        let begin = ContinuousClock.now
        #expect(
          try await spy.messages.rows.expect(times: times, within: .milliseconds(30)) == isMet)
        #expect(ContinuousClock.now - begin >= .milliseconds(30))
      }
      #expect(
        failures.texts == ["expected 2 calls of 'rows::' within 0.03 seconds, received none"])
      let proxy = UncheckedBox(spy.proxy)
      beginThread(after: 0.01) { proxy.value.rows(1, 2) }
      let isMet = try await spy.messages.rows.expect(times: 0, within: .seconds(600))
      #expect(!isMet)
      #expect(failures.all.last?.expected == "no call of 'rows::' within 600.0 seconds")
    }

    @Test("a cancelled wait ends, and throws CancellationError")
    func cancelled() async {
      let untyped = SpyProxy(reportingTo: failures)
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
