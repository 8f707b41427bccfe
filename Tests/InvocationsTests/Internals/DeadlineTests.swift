// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing

@Suite("Deadlines")
struct DeadlineTests {
  /// The numbers of closures that were called.
  private final class Called: Sendable {
    let numbers = LockedValue<[Int]>([])
    let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func call(_ number: Int) {
      numbers.withLock { $0.append(number) }
      continuation.yield()
    }

    func wait(for count: Int) async {
      var iterator = stream.makeAsyncIterator()
      for _ in 0..<count { await iterator.next() }
    }
  }

  private func time(in milliseconds: Int) -> DispatchTime { .now() + .milliseconds(milliseconds) }

  @Test("each of many deadlines is called once, none early, and no cancelled one")
  func many() async {
    let called = Called()
    let early = Atomic(0)
    var taken = [Deadlines.shared.add(at: time(in: 3_600_000)) { called.call(-1) }]
    // An earlier one does not wait for older ones.
    Deadlines.shared.add(in: .milliseconds(1)) { called.call(1000) }
    await called.wait(for: 1)
    var generator = SystemRandomNumberGenerator()
    for number in 0..<1000 {
      let time = time(in: Int.random(in: 0..<50, using: &generator))
      let set = Deadlines.shared.add(at: time + .seconds(number % 3 == 0 ? 3600 : 0)) {
        if DispatchTime.now() < time { early.wrappingAdd(1, ordering: .relaxed) }
        called.call(number)
      }
      if number % 3 == 0 { taken.append(set) }
    }
    for number in taken.shuffled(using: &generator) { Deadlines.shared.cancel(number) }
    await called.wait(for: 666)
    #expect(called.numbers.withLock { $0.sorted() } == (0...1000).filter { $0 % 3 != 0 })
    #expect(early.load(ordering: .relaxed) == 0)
  }

  @Test("cancelling a deadline that was called does not cancel another one")
  func turns() async {
    let called = Called()
    let first = Deadlines.shared.add(in: .milliseconds(1)) { called.call(1) }
    await called.wait(for: 1)
    // One of them reuses the slot of the first.
    let others = (2..<3000).map { number in
      Deadlines.shared.add(at: time(in: 20)) { called.call(number) }
    }
    Deadlines.shared.cancel(first)
    await called.wait(for: others.count)
    #expect(called.numbers.withLock { $0.sorted() } == Array(1..<3000))
  }

  @Test("deadlines end while all threads of the queues of the system are blocked")
  func blockedQueues() async {
    await #expect(processExitsWith: .success) {
      let never = DispatchSemaphore(value: 0)
      for qos in [DispatchQoS.QoSClass.userInitiated, .default] {
        for _ in 0..<512 { DispatchQueue.global(qos: qos).async { never.wait() } }
      }
      let isCalled = DispatchSemaphore(value: 0)
      Deadlines.shared.add(in: .milliseconds(100)) { isCalled.signal() }
      require(isCalled.wait(timeout: .now() + 300) == .success, "a deadline waits for a queue")
      _exit(0)
    }
  }

  @Test("closures that take long keep no other deadline from being called")
  func longClosures() async {
    await #expect(processExitsWith: .success) {
      let (never, isCalled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      for _ in 0..<300 { Deadlines.shared.add(in: .milliseconds(20)) { never.wait() } }
      for _ in 0..<10 {
        Deadlines.shared.add(in: .milliseconds(20)) { isCalled.signal() }
        require(isCalled.wait(timeout: .now() + 300) == .success, "a deadline waits for others")
      }
      // Threads that were needed once are used again, or end.
      for _ in 0..<300 { never.signal() }
      Deadlines.shared.add(in: .milliseconds(20)) { isCalled.signal() }
      require(isCalled.wait(timeout: .now() + 300) == .success)
      _exit(0)
    }
  }

  @Test(
    "a duration is bounded before it is added to a time",
    arguments: [
      (Duration(attoseconds: .min), Duration.zero), (.seconds(-1), .zero), (.zero, .zero),
      (.nanoseconds(1), .nanoseconds(1)), (.seconds(3_200_000_000), .seconds(3_200_000_000)),
      (.seconds(3_200_000_001), .seconds(3_200_000_000)),
      (.seconds(Int64.max), .seconds(3_200_000_000)),
      (Duration(attoseconds: .max), .seconds(3_200_000_000)),
    ])
  func durations(given: Duration, bounded: Duration) {
    #expect(Deadlines.bounded(given) == bounded)
    let before = DispatchTime.now().uptimeNanoseconds
    let time = Deadlines.time(after: given).uptimeNanoseconds
    let left = Duration.nanoseconds(Int64(time - before))
    #expect(left >= bounded && left < bounded + .seconds(60))
  }
}
