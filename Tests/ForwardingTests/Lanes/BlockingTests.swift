// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing

@testable import Forwarding

@Suite("Multicast: blocking lanes never deadlock")
struct BlockingTests {
  /// A proxy for one target, which runs an action when it receives a message.
  static func proxy(
    on lane: DeliveryLane, once: Bool = false, _ action: @escaping @Sendable () throws -> Void
  ) throws -> MulticastProxy {
    let target = ClosureTarget()
    try target.register("did:") { (_: Int32) in try action() }
    let proxy = MulticastProxy()
    proxy.add(target, strongly: true, on: lane, once: once)
    return proxy
  }

  static func outcomes(_ proxy: MulticastProxy) throws -> [String] {
    try proxy.deliver(did.invocation(1)).entries.map { entry in
      entry.outcome.error.map { "\($0)" } ?? "\(entry.outcome)"
    }
  }

  private static func refusal(_ queue: String) -> String {
    "the wait for 'did:' of ClosureTarget on queue '\(queue)' would never end, because its "
      + "queue or actor is waiting for this call"
  }

  @Test("a sender on the queue itself calls the target in place", arguments: [nil, 300])
  func inPlace(_ seconds: Int?) throws {
    let queue = DispatchQueue(label: "own queue")
    let log = Log()
    let deadline = seconds.map { DispatchTimeInterval.seconds($0) }
    let proxy = try Self.proxy(on: .blocking(queue, deadline: deadline)) {
      dispatchPrecondition(condition: .onQueue(queue))
      log.add("called")
    }
    let told = Log()
    let isOver = ends { queue.sync { try? told.add("\(Self.outcomes(proxy))") } }
    #expect(isOver)
    #expect(told.all == [#"["answered"]"#])
    #expect(log.all == ["called"])
  }

  @Test("a queue that targets another one counts as both, whatever else is marked")
  func hierarchy() throws {
    let behind = DispatchQueue(label: "behind")
    let queue = DispatchQueue(label: "front", target: behind)
    let log = Log()
    let inner = try Self.proxy(on: .blocking(behind)) { log.add("inner") }
    let outer = try Self.proxy(on: .blocking(queue)) { try did(1, on: inner) }
    let isOver = ends { try did(1, on: outer) }
    #expect(isOver)
    #expect(log.all == ["inner"])
  }

  @Test("a circle of queues is refused with the reason", arguments: [nil, 300])
  func circle(_ seconds: Int?) throws {
    let (one, two) = (DispatchQueue(label: "one"), DispatchQueue(label: "two"))
    let deadline = seconds.map { DispatchTimeInterval.seconds($0) }
    let log = Log()
    let last = try Self.proxy(on: .blocking(one)) { log.add("last") }
    let middle = try Self.proxy(on: .blocking(two, deadline: deadline)) {
      try log.add("\(Self.outcomes(last))")
      try did(1, on: last)
    }
    let first = try Self.proxy(on: .blocking(one, deadline: deadline)) {
      do { try did(1, on: middle) } catch {
        log.add("\(error)")
      }
    }
    let isOver = ends { try did(1, on: first) }
    #expect(isOver)
    #expect(log.all == ["\([Self.refusal("one")])", Self.refusal("one")])
  }

  @Test("the queue of a lane that the sender is on is part of the circle")
  func outside() throws {
    let (front, other) = (DispatchQueue(label: "outside"), DispatchQueue(label: "other"))
    let log = Log()
    let last = try Self.proxy(on: .blocking(front)) { log.add("last") }
    let middle = try Self.proxy(on: .blocking(other)) { try log.add("\(Self.outcomes(last))") }
    let isOver = ends { try front.sync { _ = try did(1, on: middle) } }
    #expect(isOver)
    #expect(log.all == ["\([Self.refusal("outside")])"])
  }

  @Test(
    "a once-only target that cannot be waited for gets the next message", arguments: [nil, 300])
  func once(_ seconds: Int?) throws {
    let (front, other) = (DispatchQueue(label: "outside"), DispatchQueue(label: "other"))
    let deadline = seconds.map { DispatchTimeInterval.seconds($0) }
    let log = Log()
    let last = try Self.proxy(on: .blocking(front, deadline: deadline), once: true) {
      log.add("last")
    }
    let middle = try Self.proxy(on: .blocking(other)) { try log.add("\(Self.outcomes(last))") }
    let isOver = ends { try front.sync { _ = try did(1, on: middle) } }
    #expect(isOver)
    for _ in 0..<2 { try did(1, on: last) }
    #expect(log.all == ["\([Self.refusal("outside")])", "last"])
  }

  @Test("a concurrent or global queue that sends to itself calls the target")
  func concurrent() throws {
    let log = Log()
    let queues = [DispatchQueue(label: "concurrent", attributes: .concurrent), .global()]
    for queue in queues {
      let inner = try Self.proxy(on: .blocking(queue)) { log.add("inner") }
      let outer = try Self.proxy(on: .blocking(queue)) { try did(1, on: inner) }
      let isOver = ends { try did(1, on: outer) }
      #expect(isOver)
    }
    #expect(log.all == ["inner", "inner"])
  }

  @Test("a global queue is never part of a circle")
  func global() throws {
    let log = Log()
    let queue = DispatchQueue(label: "between")
    let last = try Self.proxy(on: .blocking(.global())) { log.add("last") }
    let middle = try Self.proxy(on: .blocking(queue)) { try did(1, on: last) }
    let first = try Self.proxy(on: .blocking(.global())) { try did(1, on: middle) }
    let isOver = ends { try did(1, on: first) }
    #expect(isOver)
    #expect(log.all == ["last"])
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

  @Test("after a refused circle the queues can be used again")
  func free() throws {
    let queue = DispatchQueue(label: "free")
    let log = Log()
    let proxy = try Self.proxy(on: .blocking(queue)) { log.add("called") }
    let other = try Self.proxy(on: .blocking(DispatchQueue(label: "free, other"))) {
      _ = try Self.outcomes(proxy)
    }
    let isOver = ends {
      try queue.sync { _ = try did(1, on: other) }
      try did(1, on: proxy)
    }
    #expect(isOver)
    #expect(log.all == ["called"])
  }

  /// A target that needs the given time to answer 7.
  static func slowTarget(_ busy: DispatchTimeInterval) throws -> ClosureTarget {
    let target = ClosureTarget()
    try target.register("value") { () -> Int32 in
      let end = DispatchTime.now() + busy
      while DispatchTime.now() < end {}
      return 7
    }
    return target
  }

  /// The deadline is reduced while answers are in time, and extended while they are late, so that
  /// on any machine some answers arrive close to it.
  @Test("at the deadline an answer is either complete or missing")
  func deadline() throws {
    let queue = DispatchQueue(label: "deadline")
    let target = try Self.slowTarget(.microseconds(100))
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
