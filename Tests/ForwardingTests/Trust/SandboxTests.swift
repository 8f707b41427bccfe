// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing

private final class Counter: CallObject, @unchecked Sendable {
  let count = Atomic(0)
}

/// Uses each operation that takes a lock or a hold, once.
private func useEverything(_ proxy: MulticastProxy, _ index: Int) throws {
  let tick = try Message<NoResult, Int32>("tick:")
  let target = Counter()
  let token = proxy.add(target, strongly: index % 2 == 0)
  try tick(1, on: target)
  try tick(1, on: proxy)
  proxy.suspend(token)
  try tick(1, on: proxy)
  proxy.remove(token)
  try MethodTable.of(Counter.self).replace(
    Selector("other:"), Implementation(method: { (_: Counter, _: Int32) in }))
  try Message<NoResult, Int32>("other:")(1, on: target)
  let callback = try Callback { (value: Int32) in value + 1 }
  let function = try callback.function(as: (@convention(c) (Int32) -> Int32).self)
  require(function(1) == 2)
  // Other threads may send through the same proxy.
  require(target.count.load(ordering: .relaxed) >= 2)
}

private func registerTick() throws {
  try MethodTable.of(Counter.self).replace(
    Selector("tick:"),
    Implementation(method: { (counter: Counter, step: Int32) in
      counter.count.add(Int(step), ordering: .relaxed)
    }))
}

@Suite("A process that gives up a system call after its first use", .seccomp)
struct SandboxTests {
  @Test(
    "without membarrier, replaced values are disposed of",
    .enabled(
      if: fixture_is_thread_sanitized() == 0, "ThreadSanitizer makes system calls of its own"))
  func withoutMembarrier() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let proxy = MulticastProxy()
      try useEverything(proxy, 0)
      require(fixture_deny_membarrier() == 0)
      for index in 0..<1000 { try useEverything(proxy, index) }
      let before = residentKilobytes()
      let target = Counter()
      let tick = try Message<NoResult, Int32>("tick:")
      for _ in 0..<50_000 {
        let token = proxy.add(target, strongly: true)
        try tick(1, on: proxy)
        proxy.remove(token)
      }
      require(target.count.load(ordering: .relaxed) == 50_000)
      let growth = residentKilobytes() - before
      // AddressSanitizer delays the reuse of freed memory.
      let limit = fixture_is_address_sanitized() == 0 ? 4000 : 400_000
      require(growth < limit, "50,000 changes left \(growth) KB behind")
    }
  }

  @Test("without membarrier, other threads continue during a replacement")
  func withThreads() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let proxy = MulticastProxy()
      // Ends a process whose threads stand still.
      alarm(300)
      let isOver = Atomic(false)
      let threads = DispatchGroup()
      let rounds = Guarded([0, 0, 0])
      for number in 0..<3 {
        threads.enter()
        Thread.detachNewThread {
          while !isOver.load(ordering: .relaxed) {
            do { try useEverything(proxy, number) } catch { require(false, "\(error)") }
            rounds.withLock { $0[number] += 1 }
          }
          threads.leave()
        }
      }
      func passRounds() {
        let before = rounds.read { $0 }
        while zip(rounds.read { $0 }, before).contains(where: { $0 < $1 + 2 }) { usleep(100) }
      }
      passRounds()
      require(fixture_deny_membarrier() == 0)
      for index in 0..<500 { try useEverything(proxy, index) }
      passRounds()
      isOver.store(true, ordering: .relaxed)
      threads.wait()
    }
  }
}

@Suite("Threads that end, and signals")
struct EndedThreadTests {
  @Test("ended threads leave no records behind")
  func records() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let tick = try Message<NoResult, Int32>("tick:")
      try tick(1, on: Counter())
      let before = fwd_thread_count()
      for _ in 0..<50 { onThreads(20) { _ in _ = try? tick(1, on: Counter()) } }
      for _ in 0..<6000 where fwd_thread_count() > before { usleep(10_000) }
      require(fwd_thread_count() <= before)
    }
  }
  @Test("many signals disturb no send, no change and no callback")
  func storm() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let proxy = MulticastProxy()
      var (index, signals) = (0, Int32(0))
      // Signals that arrive while the process does not run are merged into one.
      for _ in 0..<60 where signals <= 100 {
        require(fixture_begin_signals(200) == 0)
        let end = Date() + 1
        while Date() < end {
          try useEverything(proxy, index)
          index += 1
        }
        signals = fixture_end_signals()
      }
      require(signals > 100, "only \(signals) signals came")
    }
  }
}
