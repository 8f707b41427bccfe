// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Testing

@testable import Invocations

@Suite("Queues without blocks")
struct SystemQueueTests {
  /// Counts what a queue runs.
  final class Counter: @unchecked Sendable {
    // SAFETY: only the queue of a test changes it.
    var count = 0
  }

  @Test("the queues of this system are called without blocks")
  func address() {
    #expect(SystemQueue(DispatchQueue(label: "known")).isCalledWithoutBlocks)
    #expect(SystemQueue(DispatchQueue.global()).isCalledWithoutBlocks)
    #expect(!SystemQueue(withBlocks: DispatchQueue(label: "hidden")).isCalledWithoutBlocks)
  }

  @Test("work runs on the queue and in order, with and without blocks", arguments: [false, true])
  func order(withBlocks: Bool) {
    let queue = DispatchQueue(label: "in order")
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 7)
    let system = withBlocks ? SystemQueue(withBlocks: queue) : SystemQueue(queue)
    let counter = Counter()
    for _ in 0..<3 {
      system.async(counter) { KnownClass.taken($0, as: Counter.self).count += 1 }
    }
    var (place, before): (Int?, Int) = (nil, 0)
    system.sync {
      place = DispatchQueue.getSpecific(key: key)
      before = counter.count
    }
    #expect(place == 7)
    #expect(before == 3)
  }
}
