// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import Synchronization

/// Calls that are awaited, and calls on a queue.
enum WaitingRows {
  static func all() throws -> [Benchmark] { awaited() + queued() + blocking() }

  // MARK: Awaited calls

  private final class Store: Storing {
    @inline(never)
    nonisolated(nonsending) func store(_ number: Int) async -> Int { number }
  }

  /// What a program would write for delegates that are awaited in turn: weak boxes behind a lock,
  /// of which a call takes a copy.
  private final class Stores: Storing {
    private struct WeakBox: Sendable {
      weak let target: (any Storing)?
    }
    private let boxes: Mutex<[WeakBox]>

    init(_ stores: [Store]) { boxes = Mutex(stores.map { WeakBox(target: $0) }) }

    @inline(never)
    nonisolated(nonsending) func store(_ number: Int) async -> Int {
      var last = 0
      for box in boxes.withLock({ $0 }) {
        if let target = box.target { last = await target.store(number) }
      }
      return last
    }
  }

  /// The sender is a task, and nothing hops. The time to begin the task does not count.
  private static func awaiting(
    _ name: String, _ what: String, over baseline: String? = nil, _ store: any Storing
  ) -> Benchmark {
    .timed(name, what, over: baseline) { count in
      let time = Mutex(0.0)
      let isDone = DispatchSemaphore(value: 0)
      Task {
        let start = SuspendingClock.now
        var sum = 0
        for index in 0..<count { sum &+= await store.store(index) }
        let nanoseconds = start.nanoseconds
        precondition(sum == count * (count - 1) / 2, "the target was not asked")
        time.withLock { $0 = nanoseconds }
        isDone.signal()
      }
      isDone.wait()
      return time.withLock { $0 }
    }
  }

  /// Objects that live as long as the rows.
  private static let kept = (0..<6).map { _ in Store() }

  private static func awaited() -> [Benchmark] {
    [1, 2].flatMap { number -> [Benchmark] in
      let boxed = Array(kept[(number - 1)..<(2 * number - 1)])
      let many = Multicast<StoringProxy>()
      for store in kept[(2 + number)..<(2 + 2 * number)] { many.add(store) }
      let delegates = number == 1 ? "1 weak delegate" : "\(number) weak delegates in turn"
      return [
        awaiting(
          "await/by-hand-\(number)", "\(delegates) behind a lock, awaited, by hand", Stores(boxed)),
        awaiting(
          "await/proxy-\(number)", "a proxy of \(delegates), awaited",
          over: "await/by-hand-\(number)", many.proxy),
      ]
    }
  }

  // MARK: Queues

  /// 400 calls at a time. The queue starts when all of them wait, so that the time for it to wake is
  /// shared by all.
  private static func queued() -> [Benchmark] {
    let queue = DispatchQueue(label: "window")
    let (captured, window) = (Window(), Window())
    let many = Multicast<InboxDelegateProxy>()
    many.add(unchecked: window, on: .queue(queue))
    let proxy = many.proxy
    let (inbox, letter) = (Inbox(), Letter())
    func inBatches(_ count: Int, _ send: () -> Void) {
      for _ in 0..<count {
        queue.suspend()
        for _ in 0..<400 { send() }
        queue.resume()
        queue.sync {}
      }
    }
    return [
      Benchmark(
        "queue/by-hand", "`queue.async` that captures the delegate weakly, by hand", calls: 400
      ) { count in
        withExtendedLifetime(captured) {
          inBatches(count) {
            queue.async { [weak captured] in captured?.inbox(inbox, didReceive: letter) }
          }
        }
      },
      Benchmark(
        "queue/proxy", "a proxy of a weak delegate on a queue", over: "queue/by-hand", calls: 400
      ) { count in
        withExtendedLifetime((many, window)) {
          inBatches(count) { proxy.inbox(inbox, didReceive: letter) }
        }
      },
    ]
  }

  private static func blocking() -> [Benchmark] {
    let queue = DispatchQueue(label: "blocking window")
    let (captured, window) = (Window(), Window())
    let many = Multicast<InboxDelegateProxy>()
    many.add(unchecked: window, on: .blocking(queue))
    let proxy = many.proxy
    let (inbox, letter) = (Inbox(), Letter())
    weak let delegate = captured
    return [
      Benchmark("blocking/by-hand", "`queue.sync` to a weak delegate, by hand") { count in
        withExtendedLifetime(captured) {
          for _ in 0..<count {
            if let delegate { queue.sync { delegate.inbox(inbox, didReceive: letter) } }
          }
        }
      },
      Benchmark(
        "blocking/proxy", "a proxy of a weak delegate on a queue that the sender waits for",
        over: "blocking/by-hand"
      ) { count in
        withExtendedLifetime((many, window)) {
          for _ in 0..<count { proxy.inbox(inbox, didReceive: letter) }
        }
      },
    ]
  }
}

@Forwardable
protocol Storing: AnyObject, Sendable {
  @Otherwise(0) nonisolated(nonsending) func store(_ number: Int) async -> Int
}
