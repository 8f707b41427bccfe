// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Forwarding
import ForwardingTestSupport
import Testing

/// The memory of proxies and registrations, counted by the C library. Each test is a separate
/// process, in which no other code allocates.
@Suite("Multicast: memory", .enabled(if: isMemoryCounted))
struct MemoryTests {
  /// The number of bytes that `body` leaves behind for each of `count` objects, with the overhead
  /// of blocks.
  static func bytes(_ count: Int, _ body: () -> [AnyObject]) -> Int {
    let before = fixture_allocated_bytes()
    let kept = body()
    return withExtendedLifetime(kept) {
      (fixture_allocated_bytes() - before - 8 * kept.capacity) / count
    }
  }

  @Test("an idle proxy takes 200 bytes")
  func idleProxy() async {
    await #expect(processExitsWith: .success) {
      let count = 100_000
      _ = MemoryTests.bytes(1) { [MulticastProxy()] }
      let bytes = MemoryTests.bytes(count) { (0..<count).map { _ in MulticastProxy() } }
      require(bytes <= 200, "\(bytes) bytes")
    }
  }

  @Test("each of many registrations takes 120 bytes, also after a delivery")
  func registration() async {
    await #expect(processExitsWith: .success) {
      let count = 100_000
      let targets = (0..<count).map { _ in Counter() }
      let bytes = MemoryTests.bytes(count) {
        let proxy = MulticastProxy()
        for target in targets { proxy.add(target) }
        do {
          try Message<NoResult, Int32>("nobody:")(1, on: proxy)
        } catch {
          require(false, "\(error)")
        }
        return [proxy]
      }
      require(bytes <= 120, "\(bytes) bytes")
      withExtendedLifetime(targets) {}
    }
  }
}

/// False under a sanitizer, which has an allocator of its own.
private let isMemoryCounted: Bool = {
  let before = fixture_allocated_bytes()
  let array = [Int](repeating: 1, count: 10_000)
  return before >= 0 && fixture_allocated_bytes() - before >= 8 * array.count
}()
