// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Threads that send at once. Sends per second should grow with the number of cores; if they do
/// not, the threads share something that they should not.
enum Senders {
  /// The proxy and the targets that the threads use.
  struct Way: Sendable {
    /// The way in the name of a row.
    let name: String
    /// The way in a chart.
    let title: String
    let isStrong: Bool
    /// Whether each thread has its own proxy and targets. A send retains and releases a weak
    /// target, so threads that share one contend for its reference count.
    let isOwn: Bool
  }

  static let ways = [
    Way(name: "strong-shared", title: "one proxy, 4 strong targets", isStrong: true, isOwn: false),
    Way(name: "weak-shared", title: "one proxy, 4 weak targets", isStrong: false, isOwn: false),
    Way(name: "weak-own", title: "own proxies, 4 weak targets each", isStrong: false, isOwn: true),
  ]

  /// Nanoseconds for one send, of all threads together: the best of some runs of the same length.
  static func time(_ threads: Int, _ way: Way) throws -> Double {
    let keep = try Message<NoResult, Int>("keep:")
    let crowds = (0..<(way.isOwn ? threads : 1)).map { _ in Crowd(way.isStrong) }
    for crowd in crowds { try keep(0, on: crowd.proxy) }
    return (0..<8).map { _ in
      let run = Run()
      let senders = (0..<threads).map { index in
        let proxy = crowds[index % crowds.count].proxy
        return BenchmarkThread {
          var count = 0
          while !run.isOver.load(ordering: .relaxed) {
            for _ in 0..<100 { _ = try? keep(1, on: proxy) }
            count += 100
          }
          run.total.add(count, ordering: .relaxed)
        }
      }
      let start = Runner.now()
      usleep(50_000)
      run.isOver.store(true, ordering: .relaxed)
      for sender in senders { sender.join() }
      return (Runner.now() - start) / Double(max(1, run.total.load(ordering: .relaxed)))
    }.min() ?? .infinity
  }

  private final class Crowd {
    let proxy = MulticastProxy()
    private let targets = (0..<4).map { _ in QuietSubject() }

    init(_ isStrong: Bool) { for target in targets { proxy.add(target, strongly: isStrong) } }
  }

  private final class Run: Sendable {
    let isOver = Atomic(false)
    let total = Atomic(0)
  }
}
