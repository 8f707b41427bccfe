// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing

@Suite("Data sources with lanes")
struct DataSourceLaneTests {
  /// The senders of a message without a result.
  private static let senders: [@Sendable (MulticastProxy) async throws -> Void] = [
    { try did(1, on: $0) },
    { _ = try did.report(1, on: $0) },
    { _ = try did.first(1, on: $0) },
    { try await did(1, on: $0, concurrently: false) },
    { _ = try await did.report(1, on: $0, concurrently: false) },
    { _ = try await did.first(1, on: $0, concurrently: false) },
  ]

  @Test("a target that has the message on its queue ends the asking", arguments: senders.indices)
  func ends(_ sender: Int) async throws {
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
