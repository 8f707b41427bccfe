// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Foundation
  import ForwardingTestSupport
  import ForwardingTesting
  import Testing

  @Suite("Waiting for the ends of calls")
  struct EndedCallsTests {
    let failures = Failures()
    let rows = try! Message<NoResult, Int64>("rows:")
    let ask = try! Message<Int64, Int64>("ask:")

    /// Sends a message on another thread. Returns once its answer has begun; the answer ends when
    /// the gate opens, and then sets the returned value.
    private func begin(_ spy: SpyProxy, _ gate: DispatchSemaphore) -> LockedValue<Bool> {
      let (begun, hasEnded, rows) = (DispatchSemaphore(value: 0), LockedValue(false), rows)
      spy[rows].answer { _ in
        begun.signal()
        gate.wait()
        hasEnded.withLock { $0 = true }
        return NoResult()
      }
      beginThread { _ = try? rows(1, on: spy) }
      begun.wait()
      return hasEnded
    }

    @Test(
      "a met expectation guarantees that the effects of the answers are visible",
      arguments: [false, true])
    func effect(isNarrowed: Bool) async throws {
      let spy = SpyProxy(reportingTo: failures)
      let (effect, rows) = (LockedValue(0), rows)
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

    @Test(
      "an expectation waits for an answer that began before it, or fails and says so",
      arguments: [false, true])
    func begunBefore(isNarrowed: Bool) async throws {
      let spy = SpyProxy(reportingTo: failures)
      let gate = DispatchSemaphore(value: 0)
      let hasEnded = begin(spy, gate)
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

    @Test("the effects of a real object and of a suspending answer are visible")
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

      let spy = Spy<ChatDelegateProxy>(reportingTo: failures)
      let (proxy, effect) = (UncheckedBox(spy.proxy), LockedValue(0))
      spy.messages.download.answer(
        awaiting: { _, _ in
          try await Task.sleep(for: .milliseconds(20))
          effect.withLock { $0 += 1 }
          throw Offline()
        })
      let task = Task { try await proxy.value.download("hello") }
      #expect(try await spy.messages.download.expect(within: .seconds(300)))
      #expect(effect.withLock { $0 } == 1)
      await #expect(throws: Offline()) { try await task.value }
    }

    @Test("calls removed by forgetCalls() during a wait are not counted")
    func forgotten() async throws {
      let spy = SpyProxy(reportingTo: failures)
      let rows = rows
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
      let spy = SpyProxy(reportingTo: failures)
      let (asked, rows) = (LockedValue(0), rows)
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
  }

  extension EndedCallsTests {
    @Test("an answer can release its spy, even if that was the last reference")
    func letsGo() throws {
      let held = LockedValue<SpyProxy?>(nil)
      for number in 0..<200 as Range<Int64> {
        do {
          let spy = SpyProxy(reportingTo: failures)
          held.withLock { $0 = spy }
          let some = spy[ask].where { $0 > 99 }
          for (sign, message) in [(1, spy[ask]), (-1, some)]
            as [(Int64, SpiedMessage<Int64, Int64>)]
          {
            message.answer { number in
              held.withLock { $0 = nil }
              return sign * number
            }
          }
        }
        #expect(try ask(number, on: held.withLock { $0 }) == (number > 99 ? -number : number))
      }
    }
  }
#endif
