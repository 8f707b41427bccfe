// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import Forwarding
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing
@testable import Invocations

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
      let isOver = Atomic(false)
      let threads = (0..<3).map { number in
        let thread = Thread {
          while !isOver.load(ordering: .relaxed) { try? useEverything(proxy, number) }
        }
        thread.start()
        return thread
      }
      usleep(50_000)
      require(fixture_deny_membarrier() == 0)
      for index in 0..<500 { try useEverything(proxy, index) }
      isOver.store(true, ordering: .relaxed)
      require(threads.count == 3)
      usleep(100_000)
      _exit(0)
    }
  }
}
