// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import Invocations
import RemoteTestSupport
import Testing

@Suite("An object in all processes of a name")
struct GatheringTests {
  /// A proxy for hosts that all answer, each in the given number of the given bodies.
  private static func crowd(_ answers: [(host: UInt64, body: [UInt8])]) throws -> Pretender {
    try Pretender { message in
      for (host, body) in answers {
        message.answer?(
          Envelope.answer(Envelope.answered, host: host, to: message.payload, body))
      }
    }
  }

  @Test("each host counts once, and no more answers are accepted than expected")
  func voices() async throws {
    // The answers of three hosts, each three times.
    let crowd = try Self.crowd((0..<9).map { ($0 / 3, [1, 0, 0, 0]) })
    for count in [2, 3] {
      let sums = try await crowd.gather(expecting: count) { try await Vault.deposit(1, on: $0) }
      #expect(sums.answers.map(\.host) == (0..<3).prefix(count).map { UInt64($0) })
    }
    #expect(crowd.statistics.strange == 2 + 4)
    // The message gets the first answer, also one that cannot be read.
    let odd = try Self.crowd([(1, [1]), (2, [1, 0, 0, 0])])
    let sums = try await odd.gather(expecting: 2) { odd in
      await #expect(throws: WireError.self) { try await Vault.deposit(1, on: odd) }
      return Int32(0)
    }
    #expect(sums.answers.map { (try? $0.result.get()) == nil } == [true, false])
  }

  @Test("answers of 64 MB in all are accepted, and not one byte more", arguments: [0, 1])
  func bytes(extra: Int) async throws {
    // Each answer counts with its head of 20 bytes, and a kilobyte more.
    let body = [UInt8](repeating: 0, count: (1 << 20) - 1044)
    let more = [UInt8](repeating: 0, count: extra)
    // The last answer is small: it has room in place of one that has none.
    let crowd = try Self.crowd((0..<64).map { ($0, $0 == 0 ? body + more : body) } + [(64, [])])
    let sums = try await crowd.gather(expecting: 64, within: .seconds(100)) {
      try await Vault.deposit(1, on: $0)
    }
    #expect(sums.answers.count == 64 && sums.answers.last?.host == UInt64(63 + extra))
    #expect(crowd.statistics.strange == extra)
  }

  @Test(
    "an error that keeps hosts from being asked or heard is thrown, even if it is caught before; it is no error that there is none"
  )
  func errors() async throws {
    let bank = try Bank()
    let remote = bank.remote
    let nobody = try bank.proxy(at: "nobody")
    #expect(try await nobody.gather { try await Vault.deposit(1, on: $0) }.answers.isEmpty)
    bank.vault.isOpen = false
    @Sendable func gather() async throws {
      _ = try await remote.gather { try? await Vault.hold("", on: $0) }
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

@Suite("Objects of other processes among many targets")
struct RemoteMulticastTests {
  private enum Manner { case answers, fails, hides, sleeps }
  private static let lanes = Lane.allCases.filter { $0 != .blockingForAMoment }

  /// A vault in this process, and any in another one, as targets of one proxy.
  private final class Team {
    let own = Vault()
    let proxy = MulticastProxy()
    let asleep = LockedValue(0)
    let cancelled = LockedValue(0)
    private let ends: (any Transport, any Transport)
    private var banks: [Bank] = []
    private var remotes: [RemoteProxy] = []

    init(_ way: Way) throws {
      ends = try way.ends()
      proxy.add(own)
    }

    /// Adds a vault of another process or, without a manner, a name that no host has.
    @discardableResult
    func add(_ manner: Manner?, on lane: Lane) throws -> RemoteProxy {
      var remote = try Bank.remote(ends.1, at: "nobody \(UInt32.random(in: 0 ... .max))")
      if let manner {
        let bank = try Bank(ends)
        bank.vault.working = { [asleep, cancelled] number in
          switch manner {
          case .answers: return number
          case .fails: throw Vault.NoRoom(count: 2)
          case .hides: throw Vault.Secret()
          case .sleeps:
            asleep.withLock { $0 += 1 }
            do { try await Task.sleep(for: .seconds(600)) } catch {
              cancelled.withLock { $0 += 1 }
              throw error
            }
            return number
          }
        }
        banks.append(bank)
        remote = bank.remote
      }
      remotes.append(remote)
      proxy.add(remote, on: lane.on())
      return remote
    }
  }

  @Test(
    "each target has its own entry: answered, failed with its text, late, refused, unreachable",
    arguments: Way.allCases, lanes)
  func report(way: Way, lane: Lane) async throws {
    for concurrently in [false, true] {
      let team = try Team(way)
      for manner in [Manner.answers, .fails, .hides] { try team.add(manner, on: lane) }
      try team.add(.sleeps, on: lane).deadline = .seconds(3)
      try team.add(nil, on: lane)
      let report = try await Vault.work.message.report(
        7, on: team.proxy, concurrently: concurrently)
      let errors = report.entries.map { $0.outcome.error as? RemoteError }.map(\.?.plain)
      #expect(report.answers == [7, 7])
      #expect(
        errors == [
          nil, nil, .failed(code: 28, text: "xx"), .failed(code: 0, text: ""), .timedOut,
          .unreachable("no host listens"),
        ])
      // The late call is cancelled on its host.
      try await eventually { team.cancelled.withLock { $0 } == 1 }
    }
  }

  @Test(
    "a cancelled sender waits for no target, and all calls in progress are cancelled",
    arguments: Way.allCases, lanes)
  func cancelled(way: Way, lane: Lane) async throws {
    let team = try Team(way)
    try team.add(.answers, on: lane)
    for _ in 0..<3 { try team.add(.sleeps, on: lane) }
    let proxy = team.proxy
    let task = Task {
      try await Vault.work.message.report(7, on: proxy, concurrently: true).entries.map(\.outcome)
    }
    try await eventually { team.asleep.withLock { $0 } == 3 }
    task.cancel()
    let outcomes = try await task.value
    // The answer of another process may be in transit when the sender is cancelled, or its lane not begun.
    #expect(outcomes[0].isAnswer)
    let other = outcomes[1].error
    let isLost = if case ForwardingError.cancelled? = other { true } else { false }
    #expect(
      outcomes[1].isAnswer || other as? RemoteError == .cancelled || other is CancellationError
        || isLost, "\(outcomes[1])")
    #expect(
      outcomes.dropFirst(2).map { $0.error as? RemoteError }
        == [.cancelled, .cancelled, .cancelled])
    try await eventually { team.cancelled.withLock { $0 } == 3 }
  }
}
