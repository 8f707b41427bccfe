// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import Testing

@Suite("The parts of Swift's runtime and of Dispatch that the package relies on")
struct SwiftRuntimeTests {
  @Test("this toolchain passes all probes")
  func all() {
    for probe in SwiftRuntime.probes + [SwiftRuntime.search, SwiftRuntime.queues] {
      #expect(probe.passes(), "\(probe.name)")
    }
  }

  @Test("another runtime ends the program with a sentence that names the toolchain")
  func other() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      SwiftRuntime.check([SwiftRuntime.search, .init("told wrong things") { false }])
    }
    let said = try printed(result)
    #expect(said.contains("does not know the runtime of this toolchain, Swift 6."), "\(said)")
    #expect(said.contains("told wrong things are not as they were"), "\(said)")
  }

  /// Counts what a queue runs.
  final class Counter: @unchecked Sendable {
    // SAFETY: only the queue of a test changes it.
    var count = 0
  }

  @Test("queues run work in order, called with and without blocks", arguments: [false, true])
  func queues(withBlocks: Bool) {
    let queue = DispatchQueue(label: "in order")
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 7)
    let system = withBlocks ? SystemQueue(withBlocks: queue) : SystemQueue(queue)
    #expect(system.isCalledWithoutBlocks == !withBlocks)
    #expect(SystemQueue(DispatchQueue.global()).isCalledWithoutBlocks)
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
