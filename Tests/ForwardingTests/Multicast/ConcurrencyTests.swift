// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing

/// 8 threads add, remove, send and release targets. `FORWARDING_SECONDS` is the duration (0.5;
/// `make check` takes 2, and `make check-machines` 10).
@Suite("Multicast from 8 threads", .serialized)
struct ConcurrencyTests {
  static let seconds =
    ProcessInfo.processInfo.environment["FORWARDING_SECONDS"].flatMap { Double($0) } ?? 0.5

  /// The messages that targets have received, and the targets that are not released yet.
  final class Tally: Sendable {
    let count = Atomic(0)
    let alive = Atomic(0)
  }

  /// Counts the messages that it receives, and detects messages that it should not receive.
  final class Counter: MethodDeclaring, Sendable {
    let received = Atomic(0)
    let total: Tally
    init(_ total: Tally = Tally()) {
      self.total = total
      total.alive.add(1, ordering: .relaxed)
    }
    deinit { total.alive.subtract(1, ordering: .relaxed) }
    let isClosed = Atomic(false)
    let late = Atomic(0)

    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("did:") { (self: Counter, value: Int32) throws -> Void in
        self.received.add(1, ordering: .relaxed)
        self.total.count.add(1, ordering: .relaxed)
        if self.isClosed.load(ordering: .acquiring) { self.late.add(1, ordering: .relaxed) }
        if value == 13 { throw Failure(name: "13") }
      }
    }
  }

  @Test("the entries of all reports agree with the messages that the targets received")
  func countsAddUp() throws {
    let proxy = MulticastProxy()
    let reported = Atomic(0)
    let failed = Atomic(0)
    let others = Atomic(0)
    let entries = Atomic(0)
    let received = Tally()
    let broken = Atomic(0)
    let end = Date().addingTimeInterval(Self.seconds)
    onThreads(8) { thread in
      var generator = UInt64(thread) &* 7919 &+ 1
      func random(_ limit: Int) -> Int {
        generator = generator &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(generator >> 33) % limit
      }
      var mine: [Counter] = []
      while Date() < end || reported.load(ordering: .relaxed) <= 1000 {
        do {
          switch random(10) {
          case 0, 1:
            let target = Counter(received)
            proxy.add(target, strongly: random(4) == 0)
            mine.append(target)
          case 2 where !mine.isEmpty:
            // Either removed and released, or only released and found dead by a delivery.
            let target = mine.remove(at: random(mine.count))
            if random(2) == 0 { proxy.remove(target) }
          default:
            let report = try proxy.deliver(did.invocation(Int32(random(20))))
            entries.add(report.entries.count, ordering: .relaxed)
            for entry in report.entries {
              switch entry.outcome {
              case .answered: reported.add(1, ordering: .relaxed)
              case .failed: failed.add(1, ordering: .relaxed)
              default: others.add(1, ordering: .relaxed)
              }
            }
            if mine.count > 20 { proxy.remove(mine.removeFirst()) }
          }
        } catch {
          broken.add(1, ordering: .relaxed)
        }
      }
    }
    let all = reported.load(ordering: .relaxed) + failed.load(ordering: .relaxed)
    #expect(broken.load(ordering: .relaxed) == 0)
    #expect(entries.load(ordering: .relaxed) == all + others.load(ordering: .relaxed))
    #expect(all == received.count.load(ordering: .relaxed))
    #expect(all > 1000)
    // The last thread that releases a list disposes of it, at the latest with the next delivery.
    proxy.removeAll()
    try did(0, on: proxy)
    #expect(received.alive.load(ordering: .relaxed) == 0)
  }

  @Test("no call that begins after a removal has returned reaches the target")
  func nothingAfterRemoval() throws {
    let proxy = MulticastProxy()
    /// The number of sends that each sender has finished.
    let tallies = (0..<4).map { _ in Tally() }
    let waiting = Atomic(4)
    let stop = Atomic(false)
    let late = Atomic(0)
    let checked = Atomic(0)
    let end = Date().addingTimeInterval(Self.seconds / 2)
    onThreads(8) { thread in
      if thread < 4 {
        while !stop.load(ordering: .relaxed) {
          _ = try? proxy.deliver(did.invocation(1))
          tallies[thread].count.add(1, ordering: .releasing)
        }
        return
      }
      while Date() < end || checked.load(ordering: .relaxed) <= 3 {
        let target = Counter()
        _ = proxy.add(target, strongly: true)
        proxy.remove(target)
        // Once each sender has finished two more sends, all that had begun before have ended.
        let seen = tallies.map { $0.count.load(ordering: .acquiring) }
        while zip(tallies, seen).contains(where: { $0.count.load(ordering: .acquiring) < $1 + 2 }) {
          Thread.sleep(forTimeInterval: 0.0001)
        }
        target.isClosed.store(true, ordering: .releasing)
        Thread.sleep(forTimeInterval: 0.001)
        late.add(target.late.load(ordering: .relaxed), ordering: .relaxed)
        checked.add(1, ordering: .relaxed)
      }
      // The last one to finish stops the senders, which must run until all waits have ended.
      if waiting.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
        stop.store(true, ordering: .relaxed)
      }
    }
    #expect(late.load(ordering: .relaxed) == 0)
    #expect(checked.load(ordering: .relaxed) > 3)
  }

  @Test("weak targets are released on other threads while they are called")
  func dying() throws {
    let proxy = MulticastProxy()
    let end = Date().addingTimeInterval(Self.seconds / 2)
    let delivered = Atomic(0)
    let tally = Tally()
    onThreads(8) { thread in
      while Date() < end || delivered.load(ordering: .relaxed) == 0 {
        if thread % 2 == 0 {
          let batch = (0..<8).map { _ in Counter(tally) }
          for target in batch { _ = proxy.add(target) }
          // All targets are released here, during deliveries.
        } else if let report = try? proxy.deliver(did.invocation(1)) {
          delivered.add(report.answered, ordering: .relaxed)
        }
      }
    }
    // A delivery removes at most 16,384 dead targets. On a busy machine more may have died.
    for _ in 0...proxy.registrationCount >> 14 { _ = try proxy.deliver(did.invocation(1)) }
    #expect(proxy.registrationCount == 0)
    #expect(tally.alive.load(ordering: .relaxed) == 0)
    #expect(delivered.load(ordering: .relaxed) > 0)
  }
}
