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

  /// Leaves out optional requirements, and without a factor throws from those that can throw.
  private class Brief: Asked, @unchecked Sendable {
    let factor: Int?
    let told = Guarded(0)
    init(_ factor: Int?) { self.factor = factor }

    func times(_ number: Int) throws(Weak) -> Int {
      guard let factor else { throw Weak() }
      return factor * number
    }
    func tell(_ number: Int) { told.withLock { $0 += number } }
    func push(_ number: Int) throws { tell(try times(number)) }
    func weigh(_ number: Int) -> Int { number }
    func check(_ number: Int) throws -> Int { number }
    func tellLater(_ number: Int) async { tell(number) }
    func pushLater(_ number: Int) async throws { tell(try times(number)) }
    func weighLater(_ number: Int) async -> Int { (factor ?? 0) * number }
    func findLater(_ number: Int) async -> Int? { factor.map { $0 * number } }
    func checkLater(_ number: Int) async throws -> Int { try times(number) }
    func gradeLater(_ number: Int) async throws(Weak) -> Int { try times(number) }
  }

  private final class Full: Asked, @unchecked Sendable {
    let brief: Brief
    init(_ factor: Int?) { brief = Brief(factor) }
    func tell(_ number: Int) { brief.tell(number) }
    func push(_ number: Int) throws { try brief.push(number) }
    func weigh(_ number: Int) -> Int { brief.weigh(number) }
    func check(_ number: Int) throws -> Int { try brief.check(number) }
    func nap(_ number: Int) { brief.tell(number) }
    func tellLater(_ number: Int) async { await brief.tellLater(number) }
    func pushLater(_ number: Int) async throws { try await brief.pushLater(number) }
    func weighLater(_ number: Int) async -> Int { await brief.weighLater(number) }
    func findLater(_ number: Int) async -> Int? { await brief.findLater(number) }
    func checkLater(_ number: Int) async throws -> Int { try await brief.checkLater(number) }
    func gradeLater(_ number: Int) async throws(Weak) -> Int { try brief.times(number) }
    func napLater(_ number: Int) async { brief.tell(number) }
    func restLater(_ number: Int) async -> Int { await brief.weighLater(number) }
    func rateLater(_ number: Int) async throws -> Int { try brief.times(number) }
  }

  /// A message that a sender sends.
  private struct Sending: Sendable, CustomTestStringConvertible {
    let name: String
    let send: @Sendable (any Asked) async throws -> Int?
    var testDescription: String { name }

    static let all: [Sending] = [
      Sending(name: "tell:") {
        $0.tell(5)
        return nil
      },
      Sending(name: "push:") {
        try $0.push(5)
        return nil
      },
      Sending(name: "weigh:") { $0.weigh(5) },
      Sending(name: "check:") { try $0.check(5) },
      Sending(name: "nap:") {
        $0.nap(5)
        return nil
      },
      Sending(name: "tellLater:") {
        await $0.tellLater(5)
        return nil
      },
      Sending(name: "pushLater:") {
        try await $0.pushLater(5)
        return nil
      },
      Sending(name: "weighLater:") { await $0.weighLater(5) },
      Sending(name: "findLater:") { await $0.findLater(5) },
      Sending(name: "checkLater:") { try await $0.checkLater(5) },
      Sending(name: "gradeLater:") { try await $0.gradeLater(5) },
      Sending(name: "napLater:") {
        await $0.napLater(5)
        return nil
      },
      Sending(name: "restLater:") { await $0.restLater(5) },
      Sending(name: "rateLater:") { try await $0.rateLater(5) },
    ]

    func outcome(_ proxy: any Asked) async -> String {
      do {
        return try await send(proxy).map { "\($0)" } ?? "nothing"
      } catch ForwardingError.nobodyAnswered {
        return "throws nobodyAnswered"
      } catch RemoteError.unreachable {
        return "throws unreachable"
      } catch RemoteError.mustBeAwaited {
        return "throws mustBeAwaited"
      } catch RemoteError.failed(code: 3, text: "weak") {
        return "throws failed"
      } catch { return "throws \(error)" }
    }
  }

  /// The kind of target in the other process.
  private enum There: Int, CaseIterable { case answering, none, leaving, failing }

  /// The sender's result for a target that answers, for no target, for one that leaves the
  /// requirement out, and for one that fails.
  private let table: [String: [String]] = [
    "tell:": ["nothing", "nothing", "nothing", "nothing"],
    "push:": ["nothing", "nothing", "nothing", "nothing"],
    "weigh:": ["-1", "-1", "-1", "-1"],
    "check:": Array(repeating: "throws mustBeAwaited", count: 4),
    "nap:": ["nothing", "nothing", "nothing", "nothing"],
    "tellLater:": ["nothing", "nothing", "nothing", "nothing"],
    "pushLater:": ["nothing", "throws unreachable", "nothing", "throws failed"],
    "weighLater:": ["5", "-1", "5", "0"],
    "findLater:": ["5", "nothing", "5", "nothing"],
    "checkLater:": ["5", "throws unreachable", "5", "throws failed"],
    "gradeLater:": ["5", "-1", "5", "-1"],
    "napLater:": ["nothing", "nothing", "nothing", "nothing"],
    "restLater:": ["5", "-1", "-1", "0"],
    "rateLater:": ["5", "throws unreachable", "throws nobodyAnswered", "throws failed"],
  ]

  @Suite("Outcomes of requirements in another process", .timeLimit(.minutes(60)))
  struct RemoteOutcomeTests {
    /// A host with such a target, and a reference to it.
    private func host(_ there: There, _ ends: (any Transport, any Transport)) throws -> (
      RemoteHost, Remote<AskedProxy>
    ) {
      let name = "asked \(UInt32.random(in: 0 ... .max))"
      let host = RemoteHost(ends.0, as: name)
      switch there {
      case .answering: try host.expose(Full(1), as: AskedProxy.self)
      case .none: break
      case .leaving: try host.expose(Brief(1), as: AskedProxy.self)
      case .failing: try host.expose(Full(nil), as: AskedProxy.self)
      }
      return (host, try Remote<AskedProxy>(ends.1, at: name, deadline: .seconds(3000)))
    }

    @Test(
      "each outcome of a requirement is that of the table", arguments: Way.allCases, There.allCases)
    private func cells(_ way: Way, _ there: There) async throws {
      let (host, remote) = try host(there, way.ends())
      for _ in 0..<2 {
        for sending in Sending.all {
          let expected = table[sending.name]?[there.rawValue]
          let alone = await sending.outcome(remote.proxy)
          #expect(alone == expected, "\(sending.name)")
        }
      }
      host.close()
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

    @Test("a protocol inside of a type has an interface with the name of both")
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
    }

    @Test("a guard fails closed where no process answers it, as it is not awaited")
    func guarded() throws {
      let remote = try Remote<Station.DelegateProxy>(InProcessTransport(), at: "station")
      #expect(throws: RemoteError.mustBeAwaited("authorize:")) { try remote.proxy.authorize(1) }
    }

    @Test("outcomes are the same for a remote target with a lane")
    private func lane() async throws {
      let transport = InProcessTransport()
      let host = RemoteHost(transport, as: "lane")
      try host.expose(Brief(1), as: AskedProxy.self, on: .queue(DispatchQueue(label: "asked")))
      let remote = try Remote<AskedProxy>(transport, at: "lane", deadline: .seconds(3000))
      for _ in 0..<2 {
        #expect(await remote.proxy.restLater(5) == -1)
        #expect(try await remote.proxy.checkLater(5) == 5)
        await #expect(throws: ForwardingError.nobodyAnswered("rateLater:")) {
          try await remote.proxy.rateLater(5)
        }
      }
      host.close()
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
