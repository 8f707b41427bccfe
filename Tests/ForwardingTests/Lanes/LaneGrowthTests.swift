// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Dispatch
import Forwarding
import ForwardingTestSupport
import Foundation
import Testing

/// The memory left by released lanes, counted by the C library in a separate process.
@Suite(
  "Multicast: released lanes",
  .enabled(if: fixture_allocated_bytes() >= 0 && Sanitizer.current == nil))
struct LaneMemoryTests {
  private actor Worker {}

  private final class Inline: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  private static func lanes(_ kind: String, _ count: Int) -> [DeliveryLane] {
    (0..<count).map { index in
      switch kind {
      case "actor": .actor(Worker())
      case "executor": .executor(Inline())
      default: .queue(DispatchQueue(label: "\(index)"))
      }
    }
  }

  @Test(
    "released lanes leave no memory behind when others replace them",
    arguments: ["actor", "executor", "queue"])
  func gone(_ kind: String) async {
    await #expect(processExitsWith: .success) { [kind] in
      let target = MulticastProxy()
      let proxy = MulticastProxy()
      func come(_ count: Int) {
        for lane in Self.lanes(kind, count) {
          proxy.add(target, on: lane)
          proxy.remove(target)
        }
      }
      come(1000)
      let before = fixture_allocated_bytes()
      var left: Int { fixture_allocated_bytes() - before }
      for _ in 0..<50 {
        come(1000)
        // The state of a queue is released on another thread, some time later.
        for _ in 0..<1000 where left >= 500_000 { usleep(10_000) }
      }
      require(left < 500_000, "\(left) bytes are left of 50,000 lanes")
    }
  }
}
