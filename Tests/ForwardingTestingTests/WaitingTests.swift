// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Foundation
  import ForwardingTestSupport
  import ForwardingTesting
  import Invocations
  import Testing

  @Suite("Waiting for calls, and for their ends")
  struct WaitingTests {
    let failures = Failures()
    let rows = try! Message<NoResult, Int64>("rows:")
    let spy: SpyProxy

    init() { spy = SpyProxy(reportingTo: failures) }

    @Test("a wait for calls or for none lasts its whole duration, or until the first wrong call")
    func durations() async throws {
      let rows = rows
      for (times, isMet) in [(0, true), (2, false)] {
        let begin = ContinuousClock.now
        #expect(try await spy[rows].expect(times: times, within: .milliseconds(30)) == isMet)
        #expect(ContinuousClock.now - begin >= .milliseconds(30))
      }
      #expect(failures.texts == ["expected 2 calls of 'rows:' within 0.03 seconds, received none"])
      beginThread(after: 0.01) { [spy] in _ = try? rows(1, on: spy) }
      let isMet = try await spy[rows].expect(times: 0, within: .seconds(600))
      #expect(!isMet)
      #expect(failures.all.last?.expected == "no call of 'rows:' within 600.0 seconds")
    }

    @Test(
      "a duration that is not positive does not wait, and one without an end is no trap",
      arguments: [
        Duration.zero, .seconds(-10_000_000_000), .seconds(Int64.min), .nanoseconds(-1),
        .seconds(Int64.max),
      ])
    func limits(_ limit: Duration) async throws {
      if limit <= .zero { #expect(try await !spy[rows].expect(within: limit)) }
      try rows(1, on: spy)
      #expect(try await spy[rows].expect(within: limit))
    }

    @Test("a cancelled wait ends, and throws CancellationError", arguments: [false, true])
    func cancelled(isEarly: Bool) async {
      let task = Task { [spy, rows] in
        if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
        return try await spy[rows].expect(within: .seconds(600))
      }
      if !isEarly {
        try? await Task.sleep(for: .milliseconds(5))
        task.cancel()
      }
      await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(
      "a met expectation guarantees that the effects of the answers are visible",
      arguments: [false, true])
    func effect(isNarrowed: Bool) async throws {
      let (spy, effect, rows) = (spy, LockedValue(0), rows)
      spy[rows].answer { _ in
        Thread.sleep(forTimeInterval: 0.02)
        effect.withLock { $0 += 1 }
        return NoResult()
      }
      for wanted in 1...5 {
        beginThread(after: 0.005) { _ = try? rows(1, on: spy) }
        let message = isNarrowed ? spy[rows].where { $0 > 0 } : spy[rows]
        #expect(try await message.expect(times: wanted, within: .seconds(300)))
        #expect(effect.withLock { $0 } == wanted)
      }
    }

    @Test("so are the effects of a real object and of a suspending answer")
    func otherAnswers() async throws {
      final class Real: MethodDeclaring, Sendable {
        let effect = LockedValue(0)
        static func declareMethods(_ methods: MethodDeclarations) {
          methods.register("rows:") { (real: Real, _: Int64) in
            Thread.sleep(forTimeInterval: 0.02)
            real.effect.withLock { $0 += 1 }
          }
        }
      }
      let (real, rows) = (Real(), rows)
      let partial = SpyProxy(wrapping: real, reportingTo: failures)
      beginThread { _ = try? rows(1, on: partial) }
      #expect(try await partial[rows].expect(within: .seconds(300)))
      #expect(real.effect.withLock { $0 } == 1)

      let spy = Spy<GateDelegateProxy>(reportingTo: failures)
      let effect = LockedValue(0)
      spy.messages.load.answer(
        awaiting: { _, _ in
          try await Task.sleep(for: .milliseconds(20))
          effect.withLock { $0 += 1 }
          throw Offline()
        })
      let task = Task { [proxy = spy.proxy] in try await proxy.load("hello") }
      #expect(try await spy.messages.load.expect(within: .seconds(300)))
      #expect(effect.withLock { $0 } == 1)
      await #expect(throws: Offline()) { try await task.value }
    }

    @Test("calls may end in any order: a wait is for the end of the call that it means")
    func anyOrder() async throws {
      let (spy, rows) = (spy, rows)
      let (begun, gates) = (
        DispatchSemaphore(value: 0), [1, 2].map { _ in DispatchSemaphore(value: 0) }
      )
      spy[rows].answer { number in
        begun.signal()
        gates[Int(number)].wait()
        return NoResult()
      }
      for number in 0..<2 as Range<Int64> {
        beginThread { _ = try? rows(number, on: spy) }
        begun.wait()
      }
      gates[0].signal()
      #expect(try await spy[rows].where { $0 == 0 }.expect(within: .seconds(300)))
      #expect(try await !spy[rows].where { $0 == 1 }.expect(within: .milliseconds(20)))
      gates[1].signal()
      #expect(try await spy[rows].where { $0 == 1 }.expect(within: .seconds(300)))
    }

    @Test(
      "an expectation waits for an answer that began before it, or fails and says so",
      arguments: [false, true])
    func begunBefore(isNarrowed: Bool) async throws {
      let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let (spy, hasEnded, rows) = (spy, LockedValue(false), rows)
      spy[rows].answer { _ in
        begun.signal()
        gate.wait()
        hasEnded.withLock { $0 = true }
        return NoResult()
      }
      beginThread { _ = try? rows(1, on: spy) }
      begun.wait()
      let message = isNarrowed ? spy[rows].where { $0 == 1 } : spy[rows]
      #expect(try await !message.expect(within: .milliseconds(50)))
      #expect(spy[rows].calls == 1)
      let failure = try #require(failures.texts.first)
      #expect(failure.contains(" within 0.05 seconds, received 1, of which 1 has not ended"))
      #expect(failure.hasSuffix("\n  rows:(1)"))
      beginThread(after: 0.02) { gate.signal() }
      #expect(try await message.expect(within: .seconds(300)))
      #expect(hasEnded.withLock { $0 })
      #expect(failures.texts.count == 1)
    }

    @Test("calls removed by forgetCalls() during a wait are not counted")
    func forgotten() async throws {
      let (spy, rows) = (spy, rows)
      try rows(1, on: spy)
      async let isMet = spy[rows].expect(times: 2, within: .seconds(300))
      beginThread(after: 0.02) {
        spy.forgetCalls()
        for row in 0..<2 { _ = try? rows(Int64(row), on: spy) }
      }
      #expect(try await isMet)
      #expect(failures.texts.isEmpty)
    }

    @Test("a matching closure is called once for each call")
    func askedOnce() async throws {
      let (spy, asked, rows) = (spy, LockedValue(0), rows)
      for row in 0..<10 { try rows(Int64(row), on: spy) }
      beginThread(after: 0.02) {
        for row in 10..<200 { _ = try? rows(Int64(row), on: spy) }
      }
      let message = spy[rows].where { _ in
        asked.withLock { $0 += 1 }
        return true
      }
      #expect(try await message.expect(times: 200, within: .seconds(300)))
      // Once during the wait, once for the conclusion.
      #expect(asked.withLock { $0 } <= 400)
    }

    @Test("any thread can wake waiters, for any number of waits")
    func manyWaits() async throws {
      let (spy, rows) = (spy, rows)
      try await withThrowingTaskGroup { group in
        for wanted in 1...20 {
          group.addTask {
            let isMet = try await spy[rows].expect(times: wanted..., within: .seconds(300))
            #expect(isMet)
          }
          group.addTask { try rows(Int64(wanted), on: spy) }
        }
        try await group.waitForAll()
      }
      #expect(spy[rows].calls == 20)
    }
  }
#endif
