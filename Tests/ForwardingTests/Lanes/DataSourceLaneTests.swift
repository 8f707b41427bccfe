// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Forwarding
import Invocations
import Testing

private let ring = try! Message<NoResult, Int32>("dataSourceRing:")

/// A target that records its messages.
private final class Bell: MethodDeclaring, Sendable {
  let name: String
  let log: Log
  init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("dataSourceRing:") { (self: Bell, number: Int32) in
      self.log.add("\(self.name) \(number)")
    }
  }
}

@Suite("Data sources with lanes")
struct DataSourceLaneTests {
  private let queue = DispatchQueue(label: "data source")

  /// A sender of a message without a result.
  enum Sender: CaseIterable {
    case sends, reports, takesFirst, awaits, awaitsReport, awaitsFirst
  }

  private func send(_ sender: Sender, _ source: MulticastProxy) async throws {
    switch sender {
    case .sends: try ring(1, on: source)
    case .reports: _ = try ring.report(1, on: source)
    case .takesFirst: _ = try ring.first(1, on: source)
    case .awaits: try await ring(1, on: source, concurrently: false)
    case .awaitsReport: _ = try await ring.report(1, on: source, concurrently: false)
    case .awaitsFirst: _ = try await ring.first(1, on: source, concurrently: false)
    }
  }

  @Test("a target that has the message on its queue ends the asking", arguments: Sender.allCases)
  func ends(_ sender: Sender) async throws {
    let log = Log()
    let source = MulticastProxy(asksOne: true)
    let bells = [Bell("first", log), Bell("second", log)]
    source.add(bells[0], on: .queue(queue))
    source.add(bells[1])
    try await send(sender, source)
    await withCheckedContinuation { end in queue.async { end.resume() } }
    #expect(log.all == ["first 1"])
    withExtendedLifetime(bells) {}
  }

  @Test("a cancelled task still asks the target of a proxy for one")
  func one() async throws {
    let log = Log()
    let bell = Bell("only", log)
    let proxy = MulticastProxy(one: bell)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await ring(1, on: proxy, concurrently: false)
    }
    try await task.value
    #expect(log.all == ["only 1"])
    withExtendedLifetime(bell) {}
  }
}
