// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import ForwardingRemote
  import Invocations
  import RemoteTestSupport
  import Testing

  /// A protocol with a requirement of each kind.
  @Forwardable
  fileprivate protocol Asked: AnyObject, Sendable {
    func tell(_ number: Int)
    func push(_ number: Int) throws
    @Otherwise(-1) func weigh(_ number: Int) -> Int
    func check(_ number: Int) throws -> Int
    @Optional func nap(_ number: Int)
    func tellLater(_ number: Int) async
    func pushLater(_ number: Int) async throws
    @Otherwise(-1) func weighLater(_ number: Int) async -> Int
    func findLater(_ number: Int) async -> Int?
    func checkLater(_ number: Int) async throws -> Int
    @Otherwise(-1) func gradeLater(_ number: Int) async throws(Weak) -> Int
    @Optional func napLater(_ number: Int) async
    @Optional @Otherwise(-1) func restLater(_ number: Int) async -> Int
    @Optional func rateLater(_ number: Int) async throws -> Int
  }

  enum Station {
    @Forwardable
    protocol Delegate: AnyObject, Sendable {
      @Otherwise(throw: CancellationError()) func authorize(_ number: Int) throws
      func depart(_ number: Int) async throws -> Int
    }
  }

  private final class Train: Station.Delegate {
    func authorize(_ number: Int) throws {}
    func depart(_ number: Int) async throws -> Int { number }
  }

  private struct Weak: RemoteFailure {
    var remoteCode: Int32 { 3 }
    var remoteText: String { "weak" }
  }

  /// Without a factor, it throws from those requirements that can throw.
  private class Answering: @unchecked Sendable {
    let factor: Int?
    init(_ factor: Int?) { self.factor = factor }

    func times(_ number: Int) throws(Weak) -> Int {
      guard let factor else { throw Weak() }
      return factor * number
    }
    func tell(_ number: Int) {}
    func push(_ number: Int) throws { _ = try times(number) }
    func weigh(_ number: Int) -> Int { number }
    func check(_ number: Int) throws -> Int { number }
    func tellLater(_ number: Int) async {}
    func pushLater(_ number: Int) async throws { _ = try times(number) }
    func weighLater(_ number: Int) async -> Int { (factor ?? 0) * number }
    func findLater(_ number: Int) async -> Int? { factor.map { $0 * number } }
    func checkLater(_ number: Int) async throws -> Int { try times(number) }
    func gradeLater(_ number: Int) async throws(Weak) -> Int { try times(number) }
  }

  /// Leaves out optional requirements.
  private final class Brief: Answering, Asked, @unchecked Sendable {}

  private final class Full: Answering, Asked, @unchecked Sendable {
    func nap(_ number: Int) {}
    func napLater(_ number: Int) async {}
    func restLater(_ number: Int) async -> Int { await weighLater(number) }
    func rateLater(_ number: Int) async throws -> Int { try times(number) }
  }

  /// A message that a sender sends, and the sender's results for the targets of ``There``.
  private struct Sending: Sendable {
    let name: String
    let expected: [String]
    private let send: @Sendable (any Asked) async throws -> Int?

    /// With one result for all targets, or one for each.
    init<Value>(
      _ name: String, _ expected: String...,
      send: @escaping @Sendable (any Asked) async throws -> Value
    ) {
      self.name = name
      self.expected = expected.count == 1 ? Array(repeating: expected[0], count: 4) : expected
      self.send = { try await send($0) as? Int }
    }

    static let all: [Sending] = [
      Sending("tell:", "nothing") { $0.tell(5) },
      Sending("push:", "nothing") { try $0.push(5) },
      Sending("weigh:", "-1") { $0.weigh(5) },
      Sending("check:", "mustBeAwaited") { try $0.check(5) },
      Sending("nap:", "nothing") { $0.nap(5) },
      Sending("tellLater:", "nothing") { await $0.tellLater(5) },
      Sending("pushLater:", "nothing", "unreachable", "nothing", "failed") {
        try await $0.pushLater(5)
      },
      Sending("weighLater:", "5", "-1", "5", "0") { await $0.weighLater(5) },
      Sending("findLater:", "5", "nothing", "5", "nothing") { await $0.findLater(5) },
      Sending("checkLater:", "5", "unreachable", "5", "failed") { try await $0.checkLater(5) },
      Sending("gradeLater:", "5", "-1", "5", "-1") { try await $0.gradeLater(5) },
      Sending("napLater:", "nothing") { await $0.napLater(5) },
      Sending("restLater:", "5", "-1", "-1", "0") { await $0.restLater(5) },
      Sending("rateLater:", "5", "unreachable", "nobodyAnswered", "failed") {
        try await $0.rateLater(5)
      },
    ]

    func outcome(_ proxy: any Asked) async -> String {
      do {
        return try await send(proxy).map { "\($0)" } ?? "nothing"
      } catch ForwardingError.nobodyAnswered {
        return "nobodyAnswered"
      } catch RemoteError.unreachable {
        return "unreachable"
      } catch RemoteError.mustBeAwaited {
        return "mustBeAwaited"
      } catch RemoteError.failed(code: 3, text: "weak") {
        return "failed"
      } catch { return "throws \(error)" }
    }
  }

  /// The target in the other process: one that answers, none, one that leaves the requirement out,
  /// and one that fails.
  private enum There: Int, CaseIterable { case answering, none, leaving, failing }

  @Suite("Outcomes of requirements in another process")
  struct RemoteOutcomeTests {
    /// A host with such a target, and a reference to it.
    private func host(
      _ there: There, _ ends: (any Transport, any Transport), on lane: DeliveryLane? = nil
    ) throws -> (RemoteHost, Remote<AskedProxy>) {
      let name = "asked \(UInt32.random(in: 0 ... .max))"
      let host = RemoteHost(ends.0, as: name)
      switch there {
      case .answering: try host.expose(Full(1), as: AskedProxy.self, on: lane)
      case .none: break
      case .leaving: try host.expose(Brief(1), as: AskedProxy.self, on: lane)
      case .failing: try host.expose(Full(nil), as: AskedProxy.self, on: lane)
      }
      return (host, try Remote<AskedProxy>(ends.1, at: name, deadline: .seconds(3000)))
    }

    @Test(
      "each outcome of a requirement is that of the table, with and without a lane",
      arguments: Way.allCases, There.allCases)
    private func cells(_ way: Way, _ there: There) async throws {
      for lane in [nil, DeliveryLane.queue(DispatchQueue(label: "asked"))] {
        let (host, remote) = try host(there, way.ends(), on: lane)
        for _ in 0..<2 {
          for sending in Sending.all {
            let outcome = await sending.outcome(remote.proxy)
            #expect(outcome == sending.expected[there.rawValue], "\(sending.name)")
          }
        }
        host.close()
      }
    }

    @Test(
      "another target answers if the remote one leaves the requirement out",
      arguments: [true, false], [true, false])
    private func beside(_ isFirst: Bool, _ isProxy: Bool) async throws {
      let transport = InProcessTransport()
      let (host, remote) = try host(.leaving, (transport, transport))
      let targets = Multicast<AskedProxy>()
      let told = Guarded<[String]>([])
      targets.onDiagnostic = { event in
        let text = "\(event)"
        told.withLock { $0.append(text) }
      }
      if isProxy {
        // A proxy that is a target is its proxy, so that its `@Otherwise` is no answer.
        targets.add(remote.proxy, priority: isFirst ? 1 : -1)
        #expect(targets.targets.count == 1)
      } else {
        targets.untyped.add(remote.untyped, priority: isFirst ? 1 : -1)
      }
      for _ in 0..<2 {
        #expect(await targets.proxy.restLater(5) == -1)
        await #expect(throws: ForwardingError.nobodyAnswered("rateLater:")) {
          try await targets.proxy.rateLater(5)
        }
      }
      #expect(
        told.read { $0.allSatisfy { $0.contains("no target answered") } }, "\(told.read { $0 })")
      targets.add(Full(2), strongly: true)
      for _ in 0..<2 {
        #expect(await targets.proxy.restLater(5) == 10)
        #expect(try await targets.proxy.rateLater(5) == 10)
      }
      host.close()
    }

    @Test("all hosts of a name are asked: some answer, and some throw", arguments: Way.allCases)
    func gathered(way: Way) async throws {
      let (there, here) = try way.ends()
      let name = "asked \(UInt32.random(in: 0 ... .max))"
      let hosts = try [1, 2, nil].map { factor in
        let host = RemoteHost(there, as: name)
        try host.expose(Full(factor), as: AskedProxy.self)
        return host
      }
      let all = try Remote<AskedProxy>(here, at: name, deadline: .seconds(3000))
      let votes = try await all.gather(expecting: 3) { try await $0.checkLater(5) }
      #expect(votes.answers.count == 3)
      #expect(votes.values.sorted() == [5, 10])
      let thrown = votes.answers.first { $0.host == hosts[2].number }?.result
      #expect(throws: RemoteError.failed(code: 3, text: "weak")) { try thrown?.get() }
      hosts[0].close()
      try await there.flush(within: .seconds(3000))
      let rest = try await all.gather(expecting: 2) { try await $0.checkLater(5) }
      #expect(rest.answers.count == 2)
      #expect(!rest.answers.map(\.host).contains(hosts[0].number))
      for host in hosts { host.close() }
    }

    @Test(
      "a protocol inside of a type has an interface with the name of both, and its guard fails closed"
    )
    func nested() async throws {
      let transport = InProcessTransport()
      let host = RemoteHost(transport, as: "station")
      try host.expose(Train(), as: Station.DelegateProxy.self)
      let remote = try Remote<Station.DelegateProxy>(
        transport, at: "station", deadline: .seconds(3000))
      #expect(remote.untyped.interface.name == "Station.DelegateProxy")
      #expect(try Remote<AskedProxy>(transport, at: "x").untyped.interface.name == "AskedProxy")
      #expect(try await remote.proxy.depart(3) == 3)
      host.close()
      // A guard fails closed where no process answers it, as it is not awaited.
      #expect(throws: RemoteError.mustBeAwaited("authorize:")) { try remote.proxy.authorize(1) }
    }

    @Test("a message without a method is refused if it is sent by its selector")
    private func byName() async throws {
      let transport = InProcessTransport()
      let (host, remote) = try host(.leaving, (transport, transport))
      for _ in 0..<2 {
        await #expect(throws: RemoteError.refused(.leftOut, "")) {
          try await AsyncMessage<Int, Int>("rateLater:")(5, on: remote.untyped)
        }
      }
      #expect(host.statistics.failed == 0)
      host.close()
    }
  }
#endif
