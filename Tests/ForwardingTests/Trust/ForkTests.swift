// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import Forwarding
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing
@testable import Invocations

@Suite("A process that forks while its threads use the library")
struct ForkTests {
  @Test(
    "a class that was declaring its methods has them all in the child",
    .enabled(if: fixture_is_thread_sanitized() == 0, "ThreadSanitizer cannot follow it"))
  func declaring() async {
    await #expect(processExitsWith: .success) { Slowly.fork(Slowly.Declaring()) }
  }

  @Test(
    "a class that was resolving a method has it in the child",
    .enabled(if: fixture_is_thread_sanitized() == 0, "ThreadSanitizer cannot follow it"))
  func resolving() async {
    await #expect(processExitsWith: .success) { Slowly.fork(Slowly.Resolving()) }
  }

  @Test(
    "every child can use the whole library",
    .enabled(
      if: fixture_is_thread_sanitized() == 0, "ThreadSanitizer cannot follow a fork of many threads"
    ))
  func children() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let proxy = MulticastProxy()
      let isOver = Atomic(false)
      let threads = (0..<4).map { number in
        let thread = Thread {
          while !isOver.load(ordering: .relaxed) {
            try? useEverything(proxy, number)
          }
        }
        thread.start()
        return thread
      }
      try useEverything(MulticastProxy(), 0)
      var failed = 0
      for _ in 0..<60 {
        usleep(2000)
        let status = runChild {
          do {
            for index in 0..<20 { try useEverything(MulticastProxy(), index) }
            try useEverything(proxy, 0)
          } catch {
            _exit(1)
          }
        }
        if status != 0 { failed += 1 }
      }
      isOver.store(true, ordering: .relaxed)
      require(threads.count == 4)
      require(failed == 0, "\(failed) of 60 children failed")
      _exit(0)
    }
  }

  @Test("a child has the record of its own thread only")
  func records() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let proxy = MulticastProxy()
      let isInside = DispatchSemaphore(value: 0)
      proxy.add(Counter(), strongly: true)
      for _ in 0..<8 {
        Thread {
          _ = try? Message<NoResult, Int32>("tick:")(1, on: proxy)
          isInside.signal()
          sleep(60)
        }.start()
        isInside.wait()
      }
      require(fwd_thread_count() >= 8)
      // This send makes a record for the forking thread.
      try Message<NoResult, Int32>("tick:")(1, on: proxy)
      let status = runChild { _exit(Int32(fwd_thread_count())) }
      require(status == 1, "the child knows \(status)")
      _exit(0)
    }
  }
}
