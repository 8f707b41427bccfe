// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import Invocations
import RemoteTestSupport
import Testing

#if Macros
  @Forwardable
  fileprivate protocol Voter: AnyObject, Sendable {
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
#endif

@Suite("An object in all processes of a name", .timeLimit(.minutes(60)))
struct GatheringTests {
  #if Macros
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
  #endif

  /// Answers the calls to a name that no host has.
  private func crowd(
    _ bank: Bank, _ answer: @escaping @Sendable (TransportMessage) -> Void
  ) throws -> (RemoteProxy, any TransportSubscription) {
    let crowd = try bank.there.subscribe(to: "forwarding.crowd.bank", group: nil, answer)
    return (try bank.proxy(at: "crowd"), crowd)
  }

  @Test("each host counts once, and no more answers are accepted than expected")
  func voices() async throws {
    // The answers of three hosts, each three times.
    let (crowd, end) = try crowd(Bank()) { message in
      for number in 0..<9 {
        message.answer?(
          Envelope.answer(
            Envelope.answered, host: UInt64(number / 3), to: message.payload, [1, 0, 0, 0]))
      }
    }
    defer { end.end() }
    for count in [2, 3] {
      let sums = try await crowd.gather(expecting: count) { try await Vault.deposit(1, on: $0) }
      #expect(sums.answers.map(\.host) == (0..<3).prefix(count).map { UInt64($0) })
    }
    #expect(crowd.statistics.strange == 2 + 4)
  }

  @Test("answers of 64 MB in all are accepted, and not one byte more", arguments: [0, 1])
  func bytes(extra: Int) async throws {
    // Each answer counts with its head of 20 bytes, and a kilobyte more.
    let body = [UInt8](repeating: 0, count: (1 << 20) - 1044)
    let (crowd, end) = try crowd(Bank()) { message in
      for host in 0..<64 {
        let more = [UInt8](repeating: 0, count: host == 0 ? extra : 0)
        message.answer?(
          Envelope.answer(
            Envelope.answered, host: UInt64(host), to: message.payload, body + more))
      }
    }
    defer { end.end() }
    let sums = try await crowd.gather(within: .seconds(10)) { try await Vault.deposit(1, on: $0) }
    #expect(sums.answers.count == 64 - extra)
    #expect(crowd.statistics.strange == extra)
  }

  @Test("gathering without listeners is no error")
  func nobody() async throws {
    let nobody = try Bank().proxy(at: "nobody")
    #expect(try await nobody.gather { try await Vault.deposit(1, on: $0) }.answers.isEmpty)
  }

  @Test(
    "an error that keeps hosts from being asked or heard is thrown, even if it is caught before")
  func errors() async throws {
    let bank = try Bank()
    let remote = bank.remote
    bank.vault.isOpen = false
    @Sendable func gather() async throws {
      _ = try await remote.gather { try? await Vault.hold(on: $0) }
    }
    remote.inFlightLimit = 0
    await #expect(throws: RemoteError.congested(limit: 0)) { try await gather() }
    remote.inFlightLimit = 10
    let waiting = Task { try await gather() }
    try await eventually { bank.host.statistics.asked == 1 }
    waiting.cancel()
    await #expect(throws: RemoteError.cancelled) { try await waiting.value }
    let closed = Task { try await gather() }
    try await eventually { bank.host.statistics.asked == 2 }
    bank.here.close()
    await #expect(throws: RemoteError.closed) { try await closed.value }
    await #expect(throws: RemoteError.closed) { try await gather() }
  }

  @Test("a second message is refused, and its answers are not mixed with those of the first")
  func second() async throws {
    let banks = try Bank.several(2)
    // A bank that nobody uses any more closes its host.
    defer { withExtendedLifetime(banks) {} }
    let remote = banks[0].remote
    let second = RemoteError.gathersOne(Vault.deposit.message.selector)
    await #expect(throws: second) {
      try await remote.gather(expecting: 1) { all in
        _ = try await Vault.name("Ann", on: all)
        return try await Vault.deposit(5, on: all)
      }
    }
    await #expect(throws: second) {
      try await remote.gather(expecting: 1) { all in
        let sum = try await Vault.deposit(5, on: all)
        _ = try? await Vault.deposit(6, on: all)
        return sum
      }
    }
    // The second messages were not sent.
    #expect(banks.allSatisfy { $0.host.statistics.asked == 2 })
    let one = try await remote.gather(expecting: 2) { try await Vault.deposit(1, on: $0) }
    #expect(one.values == [6, 6], "\(one)")
    #expect("\(second)" == "a gathering sends one message, but 'vaultDeposit:' is a second one")
  }

  @Test(
    "gathering that has enough answers, or is cancelled, cancels the calls of the other hosts")
  func enough() async throws {
    let banks = try Bank.several(3)
    let remote = banks[0].remote
    banks[0].vault.naps = 1
    func cancelled() -> [Int] { banks.map(\.vault.cancellations) }
    let first = try await remote.gather(expecting: 1) { try await Vault.sleep(600_000, on: $0) }
    #expect(first.answers.map(\.host) == [banks[0].host.number])
    try await eventually { cancelled() == [0, 1, 1] }
    let waiting = Task { try await remote.gather { try await Vault.sleep(600_000, on: $0) } }
    try await eventually { banks.allSatisfy { $0.host.statistics.asked == 2 } }
    waiting.cancel()
    await #expect(throws: RemoteError.cancelled) { try await waiting.value }
    try await eventually { cancelled().dropFirst() == [2, 2] }
  }
}
