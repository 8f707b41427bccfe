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
    let late = ForwardingError.timedOut(
      .init(selector: "did:", target: ClosureTarget.self, queue: "slow"))
    #expect(report.errors.contains { $0 as? ForwardingError == late })
    gate.signal()
    queue.sync {}
    #expect(
      report.entries.map { "\($0.outcome)".prefix { $0 != "(" } } == [
        "failed", "failed", "failed", "answered",
      ])
    #expect(report.entries[1].ticket?.outcome?.error as? ForwardingError == late)
  }

  @Test("a message that is dropped before it has run is cancelled, not lost")
  func cancelled() throws {
    let proxy = MulticastProxy()
    proxy.add(self.dummy)
    let call = QueuedCall("did:", sending: try did.invocation(1), suspends: false)
    let ticket = DeliveryTicket(of: "did:", to: proxy.snapshot[0], .nobody)
    var parcel: Forwarding.Parcel? = Parcel(call, to: proxy.snapshot[0], .never, ticket)
    #expect(parcel != nil)
    #expect(ticket.outcome == nil)
    #expect(ticket.wait(timeout: .now()) == nil)
    parcel = nil
    #expect(
      ticket.outcome?.error as? ForwardingError
        == .cancelled(.init(selector: "did:", target: ClosureTarget.self)))
  }

  private let dummy = ClosureTarget()

  @Test(
    "an answer that ends the delivery leaves the other targets uncalled, and the report names them")
  func first() throws {
    let log = Log()
    let proxy = try MulticastResultTests.proxy(["1", "2", "3"], log)
    proxy.resultRule = .first
    let report = try proxy.deliver(Messages.value.invocation())
    #expect(report.entries.map { "\($0.outcome)" } == ["answered", "notCalled", "notCalled"])
    #expect(log.all == ["1"])
  }
}
