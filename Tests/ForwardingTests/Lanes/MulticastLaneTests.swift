// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing

@Suite("Multicast: queues and actors")
struct MulticastLaneTests {
  @Test("a queued message is a copy: the sender may change its own, and texts stay valid")
  func queued() throws {
    let log = Log()
    let queue = DispatchQueue(label: "queued")
    let proxy = MulticastProxy()
    let target = Listener("x", log)
    proxy.add(target, on: .queue(queue))
    queue.suspend()
    let call = try Messages.text.invocation("first")
    let report = try proxy.deliver(call)
    try call.setArgument("second", at: 2)
    #expect(report.queued == 1)
    #expect(log.all.isEmpty)
    queue.resume()
    let outcome = report.entries[0].ticket?.wait(timeout: .now() + 60)
    #expect(outcome?.isAnswer == true)
    #expect(log.all == ["x first"])
  }

  @Test("borrowed memory and results on a queue are refused, with the reason")
  func refused() throws {
    let queue = DispatchQueue(label: "refused")
    let proxy = MulticastProxy()
    let target = ClosureTarget()
    try target.register("at:") { (_: UnsafeRawPointer?) in }
    try target.register("value") { () -> Int32 in 1 }
    proxy.add(target, on: .queue(queue))
    var byte: UInt8 = 0
    let at = ForwardingError.Context(
      selector: "at:", target: ClosureTarget.self, queue: "refused")
    let pointing = try Message<NoResult, UnsafeRawPointer?>("at:")
    try withUnsafeBytes(of: &byte) { bytes in
      let report = try proxy.deliver(pointing.invocation(bytes.baseAddress))
      #expect(
        report.errors.first as? ForwardingError
          == .borrowedArgument(at, index: 2, type: encodingOf("^v")))
    }
    #expect(try proxy.deliver(pointing.invocation(nil)).queued == 1)
    let value = ForwardingError.Context(
      selector: "value", target: ClosureTarget.self, queue: "refused")
    // A registration for one message is not used up.
    proxy.removeAll()
    proxy.add(target, on: .queue(queue), once: true)
    #expect(throws: ForwardingError.resultNotAwaited(value, encodingOf("i"))) {
      try Messages.value(on: proxy)
    }
    #expect(proxy.registrationCount == 1)
    proxy.removeAll()
    proxy.add(target, on: .blocking(queue, deadline: .seconds(60)))
    #expect(try Messages.value(on: proxy) == 1)
  }

  @Test("a new message to a proxy that handed the last one to a queue is not a cycle")
  func queuedReply() throws {
    let proxy = MulticastProxy()
    let outer = MulticastProxy()
    let log = Log()
    let listener = Listener("x", log)
    let replying = ClosureTarget()
    // Proxies are made and released repeatedly, so that new messages reuse the addresses of old
    // ones.
    try replying.register("did:") { (value: Int32) in
      for _ in 0..<20 { try did(value + 1, on: outer) }
    }
    proxy.add(replying)
    outer.add(listener)
    let front = MulticastProxy()
    front.add(proxy, on: .queue(DispatchQueue(label: "reply")))
    for _ in 0..<20 {
      let report = try front.deliver(did.invocation(0))
      #expect(report.entries[0].ticket?.wait(timeout: .now() + 60)?.isAnswer == true)
    }
    #expect(log.count == 400)
    withExtendedLifetime((listener, replying)) {}
  }

  /// The senders of a message without a result.
  private static let senders: [@Sendable (MulticastProxy) async throws -> Void] = [
    { try did(1, on: $0) },
    { _ = try did.report(1, on: $0) },
    { _ = try did.first(1, on: $0) },
    { try await did(1, on: $0, concurrently: false) },
    { _ = try await did.report(1, on: $0, concurrently: false) },
    { _ = try await did.first(1, on: $0, concurrently: false) },
  ]

  @Test(
    "a target of a data source that has the message on its queue ends the asking",
    arguments: senders.indices)
  func sourceEnds(_ sender: Int) async throws {
    let (log, source, queue) = (
      Log(), MulticastProxy(asksOne: true), DispatchQueue(label: "source")
    )
    source.add(Listener("first", log), strongly: true, on: .queue(queue))
    source.add(Listener("second", log), strongly: true)
    try await Self.senders[sender](source)
    await withCheckedContinuation { end in queue.async { end.resume() } }
    #expect(log.all == ["first 1"])
  }

  @Test("a cancelled task still asks the target of a proxy for one")
  func one() async throws {
    let log = Log()
    let proxy = MulticastProxy(one: Listener("only", log), strongly: true)
    try await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await did(1, on: proxy, concurrently: false)
    }.value
    #expect(log.all == ["only 1"])
  }
}
