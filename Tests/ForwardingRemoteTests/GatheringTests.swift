// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import ForwardingRemote
  import Invocations
  import RemoteTestSupport
  import Testing

  @Forwardable
  protocol Voter: AnyObject, Sendable {
    func vote(_ question: String) async throws -> Bool
  }

  private final class Citizen: Voter {
    struct Undecided: RemoteFailure {
      var remoteCode: Int32 { 2 }
      var remoteText: String { "undecided" }
    }

    let says: Bool?
    init(_ says: Bool?) { self.says = says }
    func vote(_ question: String) async throws -> Bool {
      guard let says else { throw Undecided() }
      return says
    }
  }

  /// A voter that never answers if asked to think.
  private final class Thinker: Voter {
    let cancellations = Guarded(0)
    func vote(_ question: String) async throws -> Bool {
      guard question.hasSuffix("...") else { return true }
      do { try await Task.sleep(for: .seconds(3000)) } catch {
        cancellations.withLock { $0 += 1 }
        throw error
      }
      return true
    }
  }

  @Suite("An object of a protocol in other processes", .timeLimit(.minutes(60)))
  struct GatheringTests {
    @Test(
      "all hosts of a name are asked: some answer, and some throw",
      arguments: Way.allCases)
    func gathered(way: Way) async throws {
      let (there, here) = try way.ends()
      // The server is shared with other tests.
      let name = "town \(UInt32.random(in: 0 ... .max))"
      let hosts = try [true, false, nil].map { says in
        let host = RemoteHost(there, as: name)
        try host.expose(Citizen(says), as: VoterProxy.self)
        return host
      }
      let town = try Remote<VoterProxy>(here, at: name, deadline: .seconds(3000))
      let votes = try await town.gather(expecting: 3) { try await $0.vote("more trees?") }
      #expect(votes.answers.count == 3)
      #expect(votes.values.sorted { $0 && !$1 } == [true, false])
      let thrown = votes.answers.first { $0.host == hosts[2].number }?.result
      #expect(throws: RemoteError.failed(code: 2, text: "undecided")) { try thrown?.get() }
      hosts[0].close()
      try await there.flush(within: .seconds(3000))
      let rest = try await town.gather(expecting: 2) { try await $0.vote("again?") }
      #expect(rest.answers.count == 2)
      #expect(!rest.answers.map(\.host).contains(hosts[0].number))
      for host in hosts { host.close() }
    }

    @Test(
      "each host counts once, and no more answers are accepted than expected")
    func voices() async throws {
      let transport = InProcessTransport()
      let town = try Remote<VoterProxy>(transport, at: "town", deadline: .seconds(3000))
      let answers = Guarded<[[UInt8]]>([])
      let citizen = RemoteHost(transport, as: "town")
      try citizen.expose(Citizen(true), as: VoterProxy.self)
      // The answers of the one host, repeated, and in the name of other hosts.
      let interface = "forwarding.town.\(town.untyped.interface.name)"
      let liar = try transport.subscribe(to: RemoteSubject(interface), group: nil) { message in
        for number in 0..<9 {
          message.answer?(
            [2, 0x81, 0, 0] + message.payload[4..<12] + [UInt8(number / 3)]
              + [UInt8](repeating: 1, count: 8))
        }
        answers.withLock { $0.append(message.payload) }
      }
      let votes = try await town.gather(expecting: 4) { try await $0.vote("more trees?") }
      #expect(votes.answers.count == 4)
      #expect(Set(votes.answers.map(\.host)).count == 4)
      let fewer = try await town.gather(expecting: 2) { try await $0.vote("more trees?") }
      #expect(fewer.answers.count == 2)
      #expect(answers.read { $0.count } == 2)
      liar.end()
      citizen.close()
    }

    @Test("gathering without listeners is no error")
    func nobody() async throws {
      let town = try Remote<VoterProxy>(
        InProcessTransport(), at: "town", deadline: .seconds(3000))
      #expect(try await town.gather { try await $0.vote("more trees?") }.answers.isEmpty)
    }

    @Test(
      "an error that keeps hosts from being asked or heard is thrown, even if it is caught before")
    func errors() async throws {
      let transport = InProcessTransport()
      let town = try Remote<VoterProxy>(transport, at: "town", deadline: .seconds(3000))
      // A listener that does not answer.
      let subject = RemoteSubject("forwarding.town.\(town.untyped.interface.name)")
      let asked = Guarded(0)
      let silent = try transport.subscribe(to: subject, group: nil) { _ in
        asked.withLock { $0 += 1 }
      }
      town.untyped.inFlightLimit = 0
      await #expect(throws: RemoteError.congested(limit: 0)) {
        try await town.gather { (try? await $0.vote("more trees?")) ?? false }
      }
      town.untyped.inFlightLimit = 10
      let waiting = Task {
        try await town.gather { (try? await $0.vote("more trees?")) ?? false }
      }
      while asked.read({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
      waiting.cancel()
      await #expect(throws: RemoteError.cancelled) { try await waiting.value }
      let closed = Task {
        try await town.gather { (try? await $0.vote("more trees?")) ?? false }
      }
      while asked.read({ $0 }) == 1 { try await Task.sleep(for: .milliseconds(1)) }
      transport.close()
      await #expect(throws: RemoteError.closed) { try await closed.value }
      await #expect(throws: RemoteError.closed) {
        try await town.gather { (try? await $0.vote("more trees?")) ?? false }
      }
      silent.end()
    }

    @Test(
      "gathering that has enough answers, or is cancelled, cancels the calls of the other hosts")
    func enough() async throws {
      let transport = InProcessTransport()
      let hosts = (0..<3).map { _ in RemoteHost(transport, as: "town") }
      defer { for host in hosts { host.close() } }
      let thinkers = [Thinker(), Thinker()]
      try hosts[0].expose(Citizen(true), as: VoterProxy.self)
      for (host, thinker) in zip(hosts.dropFirst(), thinkers) {
        try host.expose(thinker, as: VoterProxy.self)
      }
      let town = try Remote<VoterProxy>(transport, at: "town", deadline: .seconds(3000))
      let all = try await town.gather(expecting: 3) { try await $0.vote("more trees?") }
      #expect(all.answers.count == 3)
      let first = try await town.gather(expecting: 1) { try await $0.vote("or fewer...") }
      #expect(first.answers.map(\.host) == [hosts[0].number])
      while thinkers.contains(where: { $0.cancellations.read { $0 } < 1 }) {
        try await Task.sleep(for: .milliseconds(1))
      }
      let waiting = Task { try await town.gather { try await $0.vote("or none...") } }
      while hosts.contains(where: { $0.statistics.asked < 3 }) {
        try await Task.sleep(for: .milliseconds(1))
      }
      waiting.cancel()
      await #expect(throws: RemoteError.cancelled) { try await waiting.value }
      while thinkers.contains(where: { $0.cancellations.read { $0 } < 2 }) {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
  }
#endif
