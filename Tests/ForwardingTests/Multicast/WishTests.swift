// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Invocations
import Synchronization
import Testing

@Suite("Multicast: changes of options")
struct WishTests {
  let log = Log()
  let proxy = MulticastProxy()

  /// Adds a target before all others, which runs an action when it receives a message.
  private func first(_ action: @escaping @Sendable () -> Void) throws {
    let target = ClosureTarget()
    try target.register("did:") { (_: Int32) in action() }
    proxy.add(target, strongly: true, priority: 1)
  }

  @Test("a lane that is changed during a delivery takes effect at once")
  func laneInDelivery() throws {
    let queue = DispatchQueue(label: "lane in delivery")
    let later = Listener("later", log)
    proxy.add(later, on: .queue(queue))
    try first { [proxy] in proxy.add(later, on: .blocking(queue)) }
    let report = try proxy.deliver(did.invocation(1))
    #expect(report.entries.map { "\($0.outcome)" } == ["answered", "answered"])
    #expect(log.all == ["later 1"])
  }

  @Test("while one thread changes options, each message arrives once from all others")
  func changedMeanwhile() {
    let (proxy, log) = (proxy, log)
    let targets = (0..<4).map { Listener("\($0)", log) }
    let queue = DispatchQueue(label: "changed meanwhile")
    for target in targets { proxy.add(target) }
    proxy.add(targets[0], on: .queue(queue))
    let stop = Atomic(false)
    let sent = 200
    onThreads(4) { thread in
      if thread == 0 {
        var round = 0
        while !stop.load(ordering: .relaxed) {
          round += 1
          let target = targets[round % 4]
          proxy.add(target, strongly: round % 64 == 0, priority: round % 3, group: "\(round)")
          proxy.add(
            targets[0], on: round % 2 == 0 ? .queue(queue) : .blocking(queue), group: "\(round)")
        }
      } else {
        for value in 0..<sent { _ = try? did(Int32(thread * sent + value), on: proxy) }
        if thread == 1 { stop.store(true, ordering: .relaxed) }
      }
    }
    queue.sync {}
    let counts = Dictionary(log.all.map { ($0, 1) }, uniquingKeysWith: +)
    #expect(counts.count == 4 * 3 * sent)
    #expect(counts.filter { $0.key.hasPrefix("0 ") }.allSatisfy { $0.value == 2 })
    #expect(counts.filter { !$0.key.hasPrefix("0 ") }.allSatisfy { $0.value == 1 })
    #expect(proxy.registrationCount == 5)
  }

  @Test(
    "a registration for one message receives one, however its other options change",
    arguments: [0, 1])
  func onceMeanwhile(_ lane: Int) {
    let (proxy, log) = (proxy, log)
    let target = Listener("x", log)
    let queue = DispatchQueue(label: "once meanwhile")
    let lane: DeliveryLane = lane == 0 ? .caller : .queue(queue)
    let tokens = Guarded<Set<ForwardingToken>>([])
    onThreads(4) { thread in
      for round in 0..<300 {
        if thread == 0 {
          let token = proxy.add(target, on: lane, group: "\(round)", once: true)
          tokens.withLockInPlace { _ = $0.insert(token) }
        } else {
          _ = try? did(1, on: proxy)
        }
      }
    }
    queue.sync {}
    #expect(log.count == tokens.read { $0.count } - proxy.registrationCount)
  }

  @Test(
    "a registration for one message that is changed to all during it stays, and misses none")
  func allMeanwhile() {
    let (proxy, log) = (proxy, log)
    let target = Listener("x", log)
    for round in 0..<200 {
      proxy.add(target, once: true)
      onThreads(2) { thread in
        if thread == 0 { proxy.add(target) } else { _ = try? did(1, on: proxy) }
      }
      log.clear()
      _ = try? did(2, on: proxy)
      #expect(log.all == ["x 2"], "round \(round)")
      proxy.removeAll()
    }
  }

  @Test(
    "the only message of a registration retains it, and releases it before its outcome is known")
  func onceWhileWaiting() throws {
    let queue = DispatchQueue(label: "once while waiting")
    queue.suspend()
    var target: Listener? = Listener("x", log)
    weak let seen = target
    proxy.add(target!, strongly: true, on: .queue(queue), once: true)
    let ticket = try #require(try proxy.deliver(did.invocation(1)).entries[0].ticket)
    target = nil
    #expect(proxy.registrationCount == 0)
    #expect(seen != nil)
    queue.resume()
    #expect(ticket.wait(timeout: .now() + 60).map { "\($0)" } == "answered")
    #expect(seen == nil)
    #expect(log.all == ["x 1"])
  }
}
