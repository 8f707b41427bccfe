// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import ForwardingTestSupport
import Testing

@testable import Forwarding

@Suite("Multicast: changes during a delivery")
struct MulticastMutationTests {
  /// A target that runs `action` when it receives its message.
  private func acting(_ name: String, _ log: Log, _ action: @escaping @Sendable () throws -> Void)
    throws -> ClosureTarget
  {
    let target = ClosureTarget()
    try target.register("did:") { (value: Int32) in
      log.add(name)
      try action()
    }
    return target
  }

  @Test(
    "a target that removes itself finishes; one removed before its turn is skipped and reported")
  func removing() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let third = try acting("third", log) {}
    let first = ClosureTarget()
    try first.register("did:") { [weak first] (_: Int32) in
      log.add("first")
      if let first { proxy.remove(first) }
      proxy.remove(third)
    }
    proxy.add(first)
    proxy.add(try acting("second", log) {}, strongly: true)
    proxy.add(third)
    let report = try proxy.deliver(did.invocation(0))
    #expect(log.all == ["first", "second"])
    #expect(report.entries.map { "\($0.outcome)" } == ["answered", "answered", "removed"])
    proxy.add(try acting("all", log) { proxy.removeAll() }, strongly: true, priority: 1)
    #expect(
      try proxy.deliver(did.invocation(0)).entries.map { "\($0.outcome)" } == [
        "answered", "removed",
      ])
  }

  @Test("a target that is added during a delivery is not called by it")
  func adding() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let late = try acting("late", log) {}
    proxy.add(try acting("adder", log) { proxy.add(late) }, strongly: true)
    try did(1, on: proxy)
    #expect(log.all == ["adder"])
    try did(2, on: proxy)
    #expect(log.all == ["adder", "adder", "late"])
  }

  @Test(
    "a target released before its turn is dead; one released in its own call lives until its end"
  )
  func dying() throws {
    let log = Log()
    let proxy = MulticastProxy()
    nonisolated(unsafe) var victim: ClosureTarget? = try acting("victim", log) {}
    nonisolated(unsafe) var own: ClosureTarget?
    own = try acting("own", log) {
      own = nil
      victim = nil
    }
    proxy.add(own!)
    proxy.add(victim!)
    #expect(
      try proxy.deliver(did.invocation(0)).entries.map { "\($0.outcome)" } == ["answered", "dead"])
    #expect(log.all == ["own"])
    #expect(proxy.registrationCount == 0)
  }

  @Test("nested sends end at a limit, not with a stack overflow")
  func recursion() throws {
    let log = Log()
    let proxy = MulticastProxy()
    proxy.add(try acting("deeper", log) { try did(0, on: proxy) }, strongly: true)
    #expect(throws: InvocationError.forwardedTooDeeply("did:", limit: 200)) {
      try did(0, on: proxy)
    }
    #expect((50...200).contains(log.count))
    // The limit belongs to the thread, and is available again.
    let plain = MulticastProxy()
    plain.add(try acting("plain", log) {}, strongly: true)
    try did(0, on: plain)
  }

  @Test(
    "a target that throws, a late one and one of other types have their outcomes, and the rest answer"
  )
  func mixed() throws {
    let queue = DispatchQueue(label: "slow")
    let proxy = MulticastProxy()
    let log = Log()
    proxy.add(try acting("throws", log) { throw Failure(name: "t") }, strongly: true)
    let gate = DispatchSemaphore(value: 0)
    let slow = try acting("slow", log) { gate.wait() }
    proxy.add(slow, on: .blocking(queue, deadline: .milliseconds(30)))
    let other = ClosureTarget()
    try other.register("did:") { (_: Double) in }
    proxy.add(other)
    proxy.add(try acting("good", log) {}, strongly: true)
    let report = try proxy.deliver(did.invocation(1))
    #expect(report.errors.contains { $0 as? ForwardingError == .timedOut })
    gate.signal()
    queue.sync {}
    #expect(
      report.entries.map { "\($0.outcome)".prefix { $0 != "(" } } == [
        "failed", "timedOut", "failed", "answered",
      ])
    #expect(report.entries[1].ticket?.outcome.map { "\($0)" } == "timedOut")
  }

  @Test("a message that is dropped before it has run is cancelled, not lost")
  func cancelled() throws {
    let proxy = MulticastProxy()
    proxy.add(self.dummy)
    var job: DeliveryJob? = try DeliveryJob(
      did.invocation(1), proxy.snapshot[0], .never, nil, for: proxy, .nobody, nil)
    let ticket = try #require(job?.ticket)
    #expect(ticket.outcome == nil)
    #expect(ticket.wait(timeout: .now()) == nil)
    job = nil
    #expect(ticket.outcome.map { "\($0)" } == "cancelled")
  }

  private let dummy = ClosureTarget()

  @Test("a registration that ends while its message waits on a queue has that outcome")
  func removedWhileQueued() throws {
    let proxy = MulticastProxy()
    let target = Listener("x", Log())
    var queue: DispatchQueue? = DispatchQueue(label: "inactive", attributes: .initiallyInactive)
    proxy.add(target, on: .queue(queue!))
    let report = try proxy.deliver(did.invocation(1))
    #expect(report.queued == 1)
    proxy.removeAll()
    queue?.activate()
    queue = nil
    let ticket = try #require(report.entries[0].ticket)
    #expect(ticket.wait(timeout: .now() + 60).map { "\($0)" } == "removed")
  }

  @Test(
    "seven deliveries purge 100,000 dead targets in linear time", .notEmulated("it measures time"))
  func manyDead() throws {
    let proxy = MulticastProxy()
    proxy.duplicateRule = .allow
    var targets: [Listener]? = (0..<100_000).map { _ in Listener("x", Log()) }
    for target in targets! { proxy.add(target) }
    targets = nil
    let clock = ContinuousClock()
    var report = DeliveryReport()
    let time = try clock.measure { report = try proxy.deliver(did.invocation(1)) }
    #expect(report.entries.count == 100_000)
    for _ in 1..<7 {
      #expect(proxy.registrationCount > 0)
      _ = try proxy.deliver(did.invocation(1))
    }
    #expect(proxy.registrationCount == 0)
    #expect(time < .seconds(40))
  }

  @Test(
    "a combiner that stops or throws leaves the other targets uncalled, and the report names them")
  func combiner() throws {
    let log = Log()
    let proxy = try MulticastResultTests.proxy(["1", "2", "3"], log)
    let report = try proxy.deliver(Messages.value.invocation()) { call in
      try call.result(as: Int32.self) == 2 ? .stop : .next
    }
    #expect(report.entries.map { "\($0.outcome)" } == ["answered", "answered", "notCalled"])
    #expect(throws: Failure(name: "combiner")) {
      try proxy.deliver(Messages.value.invocation()) { _ in throw Failure(name: "combiner") }
    }
    #expect(log.all == ["1", "2", "1"])
  }
}
