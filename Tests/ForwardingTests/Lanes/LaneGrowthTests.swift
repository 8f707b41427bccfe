// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Dispatch
import Forwarding
import ForwardingTestSupport
import Foundation
import Testing

private actor Worker {}

private final class Inline: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}

private func lanes(_ kind: String, _ count: Int) -> [DeliveryLane] {
  (0..<count).map { index in
    switch kind {
    case "actor": .actor(Worker())
    case "executor": .executor(Inline())
    default: .queue(DispatchQueue(label: "\(index)"))
    }
  }
}

/// The cost of a target with its own queue, actor or executor, when there are many others.
@Suite("Multicast: many lanes", .serialized)
struct LaneGrowthTests {
  @Test(
    "the time to add targets, each on its own lane, grows with their number and no faster",
    arguments: ["actor", "executor", "queue"])
  func adding(_ kind: String) {
    let growth = CPUTime.growth { count in
      let targets = (0..<count).map { _ in Worker() }
      let proxy = MulticastProxy()
      // Queues are examined when a lane is made.
      return CPUTime.milliseconds {
        for (target, lane) in zip(targets, lanes(kind, count)) { proxy.add(target, on: lane) }
      }
    }
    #expect(growth < CPUTime.linear, "\(growth) times")
  }
}

/// The memory left by released lanes, counted by the C library in a separate process.
@Suite(
  "Multicast: released lanes",
  .countsMemory)
struct LaneMemoryTests {
  @Test(
    "released lanes leave no memory behind when others replace them",
    arguments: ["actor", "executor", "queue"])
  func gone(_ kind: String) async {
    await #expect(processExitsWith: .success) { [kind] in
      let target = MulticastProxy()
      let proxy = MulticastProxy()
      func come(_ count: Int) {
        for lane in lanes(kind, count) {
          proxy.add(target, on: lane)
          proxy.remove(target)
        }
      }
      come(1000)
      let before = fixture_allocated_bytes()
      var left: Int { fixture_allocated_bytes() - before }
      for _ in 0..<20 {
        come(1000)
        // The state of a queue is released on another thread, some time later.
        for _ in 0..<1000 where left >= 500_000 { usleep(10_000) }
      }
      require(left < 500_000, "\(left) bytes are left of 20,000 lanes")
    }
  }
}
