// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import Invocations
import RemoteTestSupport
import Testing

@Suite("Calls to other processes", .timeLimit(.minutes(60)))
struct RemoteCallTests {
  @Test("a call is sent, performed and answered", arguments: Way.allCases)
  func asked(way: Way) async throws {
    let bank = try Bank(way)
    #expect(try await Vault.deposit(50, on: bank.remote) == 50)
    #expect(try await Vault.deposit(5, on: bank.remote) == 55)
    #expect(try await Vault.name("Ann é", on: bank.remote) == "Ann é's")
    await #expect(throws: RemoteError.failed(code: 28, text: "xx")) {
      try await Vault.fail(2, on: bank.remote)
    }
    #expect(bank.vault.balance == 55)
    #expect(bank.host.statistics == RemoteStatistics(asked: 4, answered: 3, failed: 1))
    #expect(bank.remote.statistics == RemoteStatistics(asked: 4, answered: 4))
  }

  @Test(
    "a call that is not awaited is sent without an answer, and refused if it has a result",
    arguments: Way.allCases)
  func told(way: Way) async throws {
    let bank = try Bank(way)
    let (host, remote) = (bank.host, bank.remote)
    try Vault.add.message(7, on: remote)
    // Sent after it, as a transport preserves the order.
    #expect(try await Vault.deposit(0, on: remote) == 7)
    #expect(throws: RemoteError.mustBeAwaited("vaultDeposit:")) {
      try Vault.deposit.message(1, on: remote)
    }
    // Calls that throw or are refused are counted.
    try Vault.fail.message(1, on: remote)
    #expect(try await Vault.deposit(1, on: remote) == 8)
    #expect(host.statistics.failed == 1 && host.statistics.refused == 0)
    host.authorize = { $0.selector != Vault.add.message.selector }
    try Vault.add.message(7, on: remote)
    #expect(try await Vault.deposit(1, on: remote) == 9)
    #expect(
      host.statistics == RemoteStatistics(asked: 3, told: 3, answered: 4, failed: 1, refused: 1))
  }

  @Test(
    "calls beyond the limits of the host or of the proxy are refused", arguments: Way.allCases
  )
  func busy(way: Way) async throws {
    let bank = try Bank(way)
    bank.host.limit = 2
    let calls = try await bank.begin(2)
    await #expect(throws: RemoteError.refused(.busy, "")) {
      try await Vault.deposit(1, on: bank.remote)
    }
    bank.remote.inFlightLimit = 2
    await #expect(throws: RemoteError.congested(limit: 2)) {
      try await Vault.deposit(1, on: bank.remote)
    }
    bank.vault.isOpen = true
    for call in calls { try await call.value }
    #expect(try await Vault.deposit(1, on: bank.remote) == 1)
  }

  @Test("a call that does not suspend is performed on the thread that receives it")
  func atOnce() throws {
    let bank = try Bank()
    let own = SystemThread.current
    bank.vault.look = { SystemThread.current == own }
    try Vault.add.message(1, on: bank.remote)
    #expect(bank.vault.looks == [true])
  }

  @Test("a target with a queue receives its messages on the queue", arguments: Way.allCases)
  func lanes(way: Way) async throws {
    let queue = DispatchQueue(label: "vault")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let bank = try Bank(way, on: .queue(queue))
    bank.vault.look = { DispatchQueue.getSpecific(key: key) == true }
    try Vault.add.message(1, on: bank.remote)
    #expect(try await Vault.deposit(1, on: bank.remote) == 2)
    #expect(bank.vault.looks == [true, true])
  }

  @Test(
    "types that differ are refused with both signatures, and all calls alike without permission",
    arguments: Way.allCases)
  func mismatch(way: Way) async throws {
    let bank = try Bank(way)
    // An interface of the same name, with other types and an additional message.
    var other = Interface("bank")
    let wide = try AsyncMessage<Int64, Int64>("vaultDeposit:")
    let unknown = try AsyncMessage<Int64>("vaultCount")
    try other.allow(wide)
    try other.allow(unknown)
    let guessing = try bank.proxy(other)
    func expect(_ errors: RemoteError?...) async {
      let calls: [() async throws -> Void] = [
        { _ = try await Vault.deposit(1, on: bank.remote) },
        { _ = try await wide(1, on: guessing) }, { _ = try await unknown(on: guessing) },
      ]
      for (call, expected) in zip(calls, errors) {
        var thrown: (any Error)?
        do { try await call() } catch { thrown = error }
        #expect(thrown as? RemoteError == expected)
      }
    }
    let types = RemoteError.refused(
      .signatureMismatch, "'vaultDeposit:' has the types i@:i, but q@:q is given")
    let denied = RemoteError.refused(.unauthorized, "")
    await expect(
      nil, types, .refused(.unknownMessage, "the interface has no message 'vaultCount'"))
    let asked = LockedValue<[Selector]>([])
    bank.host.authorize = { caller in
      asked.withLock { $0.append(caller.selector) }
      return true
    }
    // `authorize` is not called for a message that the interface lacks.
    await expect(nil, types, denied)
    #expect(asked.withLock { $0 } == ["vaultDeposit:", "vaultDeposit:"])
    bank.host.authorize = { _ in false }
    await expect(denied, denied, denied)
    #expect(bank.vault.balance == 2)
  }

  @Test("the members of a group share the calls, whatever its name", arguments: Way.allCases)
  func groups(way: Way) async throws {
    for group in ["workers", "my workers", "", "a.b *>", "é"] {
      let banks = try Bank.several(3, way, group: group)
      for _ in 0..<90 { _ = try await Vault.deposit(1, on: banks[0].remote) }
      #expect(banks.map(\.vault.balance).reduce(0, +) == 90)
      #expect(banks.allSatisfy { $0.vault.balance > 0 })
      // A busy machine may take longer than that to answer.
      var count = 0
      while group == "workers", count == 0 {
        count = try await banks[0].remote.gather(expecting: 3, within: .seconds(2)) {
          try await Vault.deposit(1, on: $0)
        }.answers.count
      }
      #expect(count < 2)
    }
  }

  @Test("a cancel reaches the member of a group that performs the call", arguments: Way.allCases)
  func groupCancel(way: Way) async throws {
    let banks = try Bank.several(3, way, group: "tellers")
    let remote = banks[0].remote
    let calls = (0..<7).map { _ in Task { try await Vault.sleep(600_000, on: remote) } }
    try await eventually { banks.map(\.host.statistics.asked).reduce(0, +) == 7 }
    let begun = banks.map(\.host.statistics.asked)
    // The last call goes on, as it is not cancelled.
    for call in calls.dropLast() { call.cancel() }
    for call in calls.dropLast() {
      await #expect(throws: RemoteError.cancelled) { try await call.value }
    }
    func cancelled() -> [Int] { banks.map(\.vault.cancellations) }
    try await eventually { cancelled().reduce(0, +) == 6 }
    #expect(zip(cancelled(), begun).allSatisfy { $0 <= $1 })
    calls.last?.cancel()
    try await eventually { cancelled() == begun }
  }

  @Test("two subjects with the same number are refused when they are subscribed to")
  func sameNumber() throws {
    let transport = InProcessTransport()
    func subscribe(_ name: String) throws -> any TransportSubscription {
      try transport.subscribe(to: RemoteSubject(known: name, number: 7), group: nil) { _ in }
    }
    let first = try subscribe("a")
    #expect(
      throws: TransportError.failed("'b' and 'a' have the same hash: rename one of them")
    ) { try subscribe("b") }
    first.end()
    try subscribe("b").end()
  }
}
