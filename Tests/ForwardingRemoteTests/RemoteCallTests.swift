// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import RemoteTestSupport
import Synchronization
import Testing

@Suite("Calls to other processes", .timeLimit(.minutes(60)))
struct RemoteCallTests {
  /// A host of one vault, and a proxy for it.
  private func vault(
    _ way: Way, limit: Int = 1000, on lane: DeliveryLane? = nil
  ) throws -> (Vault, RemoteHost, RemoteProxy) {
    let (there, here) = try way.ends()
    // The server is shared with other tests.
    let name = "bank.1 * \(UInt32.random(in: 0 ... .max))"
    let host = RemoteHost(there, as: name)
    host.limit = limit
    let vault = Vault()
    try host.expose(vault, Vault.interface(), on: lane)
    // Other tests may keep the machine busy for long.
    return (
      vault, host,
      RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    )
  }

  @Test("a call is sent, performed and answered", arguments: Way.allCases)
  func asked(way: Way) async throws {
    let (vault, host, remote) = try vault(way)
    defer { host.close() }
    #expect(try await Vault.deposit(50, on: remote) == 50)
    #expect(try await Vault.deposit(5, on: remote) == 55)
    #expect(try await Vault.name("Ann é", on: remote) == "Ann é's")
    #expect(vault.balance == 55)
    #expect(host.statistics.answered == 3)
    #expect(remote.statistics.answered == 3)
    #expect(remote.statistics.failed == 0)
  }

  @Test(
    "a call that is not awaited is sent without an answer, and refused if it has a result",
    arguments: Way.allCases)
  func told(way: Way) async throws {
    let (vault, host, remote) = try vault(way)
    defer { host.close() }
    try Vault.add.message(7, on: remote)
    // Sent after it, as a transport preserves the order.
    #expect(try await Vault.deposit(0, on: remote) == 7)
    #expect(vault.balance == 7)
    #expect(host.statistics.told == 1)
    #expect(throws: RemoteError.mustBeAwaited("vaultDeposit:")) {
      try Vault.deposit.message(1, on: remote)
    }
  }

  @Test("unawaited calls that throw or are refused are counted", arguments: Way.allCases)
  func toldInVain(way: Way) async throws {
    let (vault, host, remote) = try vault(way)
    defer { host.close() }
    try Vault.fail.message(true, on: remote)
    #expect(try await Vault.deposit(1, on: remote) == 1)
    #expect(host.statistics.failed == 1 && host.statistics.refused == 0)
    host.authorize = { $0.selector != Vault.add.message.selector }
    try Vault.add.message(7, on: remote)
    #expect(try await Vault.deposit(1, on: remote) == 2)
    #expect(host.statistics.failed == 1 && host.statistics.refused == 1)
    #expect(host.statistics.told == 2 && host.statistics.answered == 2)
    #expect(vault.balance == 2)
  }

  @Test(
    "calls beyond the limits of the host or of the proxy are refused", arguments: Way.allCases
  )
  func busy(way: Way) async throws {
    let (vault, host, remote) = try vault(way, limit: 2)
    vault.isOpen.store(false, ordering: .relaxed)
    async let one: Void = Vault.hold(on: remote)
    async let other: Void = Vault.hold(on: remote)
    while host.statistics.asked < 2 { try await Task.sleep(for: .milliseconds(1)) }
    await #expect(throws: RemoteError.refused(.busy, "")) { try await Vault.deposit(1, on: remote) }
    remote.inFlightLimit = 2
    await #expect(throws: RemoteError.congested(limit: 2)) {
      try await Vault.deposit(1, on: remote)
    }
    vault.isOpen.store(true, ordering: .relaxed)
    _ = try await (one, other)
    #expect(try await Vault.deposit(1, on: remote) == 1)
    host.close()
  }

  @Test("a call that does not suspend is performed on the thread that receives it")
  func atOnce() throws {
    let (vault, host, remote) = try vault(.inProcess)
    defer { host.close() }
    let own = SystemThread.current
    vault.look = { SystemThread.current == own }
    try Vault.add.message(1, on: remote)
    #expect(vault.looks == [true] && vault.balance == 1)
  }

  @Test("types that differ are refused with both signatures", arguments: Way.allCases)
  func mismatch(way: Way) async throws {
    let (there, here) = try way.ends()
    let name = "bank \(UInt32.random(in: 0 ... .max))"
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    try host.expose(Vault(), Vault.interface())
    var other = Interface("bank")
    let deposit = try AsyncMessage<Int64, Int64>("vaultDeposit:")
    try other.allow(deposit)
    let unknown = try AsyncMessage<Int64>("vaultCount")
    try other.allow(unknown)
    let remote = RemoteProxy(other, here, at: name, deadline: .seconds(3000))
    let error = await #expect(throws: RemoteError.self) { try await deposit(1, on: remote) }
    guard case .refused(.signatureMismatch, let text) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(text == "'vaultDeposit:' has the types i@:i, but q@:q is given")
    let second = await #expect(throws: RemoteError.self) { try await unknown(on: remote) }
    guard case .refused(.unknownMessage, "the interface has no message 'vaultCount'") = second
    else {
      Issue.record("\(String(describing: second))")
      return
    }
  }

  @Test("a target with a queue receives its messages on the queue", arguments: Way.allCases)
  func lanes(way: Way) async throws {
    let queue = DispatchQueue(label: "vault")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let (vault, host, remote) = try vault(way, on: .queue(queue))
    defer { host.close() }
    vault.look = { DispatchQueue.getSpecific(key: key) == true }
    try Vault.add.message(1, on: remote)
    #expect(try await Vault.deposit(1, on: remote) == 2)
    #expect(vault.looks == [true, true])
  }

  @Test("the members of a group share the calls", arguments: Way.allCases)
  func groups(way: Way) async throws {
    let (there, here) = try way.ends()
    let vaults = (0..<3).map { _ in Vault() }
    let name = "bank \(UInt32.random(in: 0 ... .max))"
    let hosts = vaults.map { _ in RemoteHost(there, as: name) }
    defer { for host in hosts { host.close() } }
    for (host, vault) in zip(hosts, vaults) {
      try host.expose(vault, Vault.interface(), group: "workers")
    }
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    for _ in 0..<90 { _ = try await Vault.deposit(1, on: remote) }
    #expect(vaults.map(\.balance).reduce(0, +) == 90)
    #expect(vaults.allSatisfy { $0.balance > 0 })
    // A busy machine may take longer than that to answer.
    var count = 0
    while count == 0 {
      count = try await remote.gather(expecting: 3, within: .seconds(2)) {
        try await Vault.deposit(1, on: $0)
      }.answers.count
    }
    #expect(count == 1)
  }

  @Test("any text is a valid name of a group", arguments: Way.allCases)
  func groupNames(way: Way) async throws {
    let (there, here) = try way.ends()
    for (number, group) in ["my workers", "", "a.b *>", "é"].enumerated() {
      let name = "bank \(number) \(UInt32.random(in: 0 ... .max))"
      let hosts = (0..<2).map { _ in RemoteHost(there, as: name) }
      for host in hosts { try host.expose(Vault(), Vault.interface(), group: group) }
      let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
      for _ in 0..<10 { _ = try await Vault.deposit(1, on: remote) }
      #expect(hosts.map(\.statistics.asked).reduce(0, +) == 10)
      for host in hosts { host.close() }
    }
  }
}
