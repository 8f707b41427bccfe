// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Testing

/// Targets on blocking lanes, each of which sends to the next, and what becomes of the last.
private struct Chain: CustomTestStringConvertible, Sendable {
  let testDescription: String
  /// The queue that the sender is on, and those of the targets.
  let sender: String?
  let lanes: [String]
  /// The queue for which a target would wait forever.
  let refused: String?

  init(_ promise: String, from sender: String? = nil, _ lanes: [String], refused: String? = nil) {
    (testDescription, self.sender, self.lanes) = (promise, sender, lanes)
    self.refused = refused
  }
}

private let chains = [
  Chain("a sender on the queue itself calls the target in place", from: "one", ["one"]),
  Chain("a queue that targets another one counts as both", ["front", "one"]),
  Chain("a circle of queues is refused", ["one", "two", "one"], refused: "one"),
  Chain("so is one whose queue the sender is on", from: "one", ["two", "one"], refused: "one"),
  Chain("a concurrent queue may send to itself", ["concurrent", "concurrent"]),
  Chain("a global queue may send to itself", ["global", "global"]),
  Chain("a global queue is never part of a circle", ["global", "two", "global"]),
]

@Suite("Multicast: blocking lanes never deadlock")
struct BlockingTests {
  /// A proxy for one target, which runs an action when it receives a message.
  private static func proxy(
    on lane: DeliveryLane, once: Bool = false, _ action: @escaping @Sendable () throws -> Void
  ) throws -> MulticastProxy {
    let target = ClosureTarget()
    try target.register("did:") { (_: Int32) in try action() }
    let proxy = MulticastProxy()
    proxy.add(target, strongly: true, on: lane, once: once)
    return proxy
  }

  @Test(
    "a chain of blocking queues ends, or its circle is refused", arguments: chains,
    [(nil, false), (300, false), (nil, true), (300, true)] as [(seconds: Int?, isReported: Bool)])
  fileprivate func ends(_ chain: Chain, _ way: (seconds: Int?, isReported: Bool)) throws {
    let one = DispatchQueue(label: "one")
    let queues = [
      "one": one, "two": DispatchQueue(label: "two"),
      "front": DispatchQueue(label: "front", target: one),
      "concurrent": DispatchQueue(label: "concurrent", attributes: .concurrent),
      "global": .global(),
    ]
    let log = Log()
    let deadline = way.seconds.map { DispatchTimeInterval.seconds($0) }
    func lane(_ name: String) throws -> DeliveryLane {
      .blocking(try #require(queues[name]), deadline: deadline)
    }
    let last = try Self.proxy(on: lane(#require(chain.lanes.last)), once: true) {
      if let name = chain.lanes.last, ["one", "two"].contains(name), let queue = queues[name] {
        dispatchPrecondition(condition: .onQueue(queue))
      }
      log.add("called")
    }
    var first = last
    for name in chain.lanes.dropLast().reversed() {
      let next = first
      first = try Self.proxy(on: lane(name)) {
        do {
          if way.isReported {
            for error in try did.report(1, on: next).errors { throw error }
          } else {
            try did(1, on: next)
          }
        } catch { log.add("\(error)") }
      }
    }
    let start = first
    let isOver = ForwardingTestSupport.ends {
      if let sender = chain.sender.flatMap({ queues[$0] }) {
        try sender.sync { _ = try did(1, on: start) }
      } else {
        try did(1, on: start)
      }
    }
    try #require(isOver)
    let refusal = chain.refused.map {
      "the wait for 'did:' of ClosureTarget on queue '\($0)' would never end, because its queue or "
        + "actor is waiting for this call"
    }
    #expect(log.all == [refusal ?? "called"])
    // The queues can be used again, and a once-only target that was not called gets the next message.
    for _ in 0..<2 { try did(1, on: last) }
    #expect(log.all.count { $0 == "called" } == 1)
  }

  @Test("a sender on the main thread calls the main queue's target in place")
  func main() async {
    await #expect(processExitsWith: .success) {
      let answered = try await MainActor.run {
        let proxy = try BlockingTests.proxy(on: .blocking(.main)) {
          dispatchPrecondition(condition: .onQueue(.main))
        }
        return try proxy.deliver(did.invocation(1)).answered
      }
      exit(answered == 1 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  /// The deadline is reduced while answers are in time, and extended while they are late, so that
  /// on any machine some answers arrive close to it.
  @Test("at the deadline an answer is either complete or missing")
  func deadline() throws {
    let queue = DispatchQueue(label: "deadline")
    let target = ClosureTarget()
    try target.register("value") { () -> Int32 in
      let end = DispatchTime.now() + .microseconds(100)
      while DispatchTime.now() < end {}
      return 7
    }
    let proxy = MulticastProxy()
    var wrong: [String] = []
    var counts: [String: Int] = [:]
    var microseconds = 200.0
    for _ in 0..<2000 where microseconds < 2_000_000 {
      let token = proxy.add(
        target, on: .blocking(queue, deadline: .microseconds(Int(microseconds))))
      defer { proxy.remove(token) }
      let entry = try proxy.deliver(Messages.value.invocation()).entries[0]
      let isLate = if case .failed(ForwardingError.timedOut) = entry.outcome { true } else { false }
      let outcome = isLate ? "timedOut" : "\(entry.outcome)"
      counts[outcome, default: 0] += 1
      microseconds *= outcome == "answered" ? 0.9 : 1.1
      let answer = try entry.answer(as: Int32.self)
      if answer != (outcome == "answered" ? 7 : nil) { wrong.append(outcome) }
      do {
        if try Messages.value(on: proxy) != 7 { wrong.append("value") }
      } catch ForwardingError.timedOut {
      } catch {
        wrong.append("\(error)")
      }
    }
    #expect(wrong == [])
    #expect(Set(counts.keys) == ["answered", "timedOut"])
    // On a busy machine most answers are there when this thread runs again, at any deadline.
    #expect(counts["answered", default: 0] > 20)
    #expect(counts["timedOut", default: 0] > 20)
  }
}
