// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import RemoteTestSupport
import Testing

import Glibc

/// What one peer can take of a host, and for how long.
@Suite("What a host gives a peer", .timeLimit(.minutes(60)))
struct HostDefenceTests {
  @Test("told calls have a task, a deadline, and an end with their connection", arguments: [1, 2])
  func told(ending: Int) async throws {
    let path = socketPath()
    let server = try UnixSocketTransport(listeningAt: path)
    let bank = try Bank((server, UnixSocketTransport(connectedTo: path)))
    let (host, vault) = (bank.host, bank.vault)
    host.limit = 100
    if ending == 2 { host.longestCall = .milliseconds(200) }
    for _ in 0..<1000 { try Vault.sleep.message(600_000, on: bank.remote) }
    try await eventually { host.statistics.told + host.statistics.refused >= 1000 }
    let other = RemoteProxy(
      try Vault.interface(), try UnixSocketTransport(connectedTo: path), at: bank.name,
      deadline: .seconds(3000))
    // A call of another connection goes on.
    vault.isOpen = false
    host.limit = 101
    let bystander = Task { try await Vault.hold(on: other) }
    if ending == 1 {
      try await eventually { host.statistics.asked == 1 }
      bank.here.close()
    }
    try await eventually { vault.cancellations >= 100 }
    try await eventually { host.statistics.failed + host.statistics.refused >= 1000 }
    vault.isOpen = true
    if ending == 1 { try await bystander.value }
    #expect(try await Vault.deposit(1, on: other) == 1)
  }

  @Test("a call ends at the host's own time if its caller waits longer", arguments: Way.allCases)
  func longest(way: Way) async throws {
    let bank = try Bank(way)
    bank.host.longestCall = .milliseconds(50)
    await #expect(throws: RemoteError.timedOut) { try await Vault.sleep(600_000, on: bank.remote) }
  }

  @Test(
    "a method that computes does not keep the thread that reads its connection",
    arguments: [true, false])
  func computing(isForwarded: Bool) async {
    await #expect(processExitsWith: .success) { [isForwarded] in
      // Ends a process that waits forever.
      alarm(120)
      let bank = try Bank(.socket)
      bank.vault.isOpen = false
      let computing = RemoteHost(bank.there, as: "computing")
      // An object that forwards, of whose targets the host knows nothing.
      let several = MulticastProxy()
      several.add(bank.vault, strongly: true)
      try computing.expose(isForwarded ? several : bank.vault, Vault.interface())
      try Vault.spin.message(on: bank.proxy(at: "computing"))
      require(try await Vault.deposit(1, on: bank.remote) == 1)
      require(computing.statistics.told == 1 && computing.statistics.answered == 0)
      _exit(0)
    }
  }

  @Test("an object that forwards gets messages in their order")
  func order() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "several")
    defer { host.close() }
    let tally = Tally(keepsOrder: true)
    let several = MulticastProxy()
    several.add(tally, strongly: true)
    try host.expose(several, Tally.interface())
    let remote = RemoteProxy(
      try Tally.interface(), transport, at: "several", deadline: .seconds(3000))
    await withTaskGroup(of: Void.self) { tasks in
      for number in 0..<100 {
        tasks.addImmediateTask { _ = try? await Tally.take(number, on: remote) }
      }
    }
    #expect(tally.inOrder == Array(0..<100))
  }

  @Test("the calls that a host holds are limited in bytes, and told ones too", arguments: [1, 2])
  func bytes(kind: Int) async throws {
    let bank = try Bank()
    let (host, remote) = (bank.host, bank.remote)
    host.byteLimit = 100_000
    bank.vault.isOpen = false
    let text = String(repeating: "x", count: 60_000)
    let first = Task {
      if kind == 1 {
        try await Vault.keep(text, on: remote)
      } else {
        try Vault.keep.message(text, on: remote)
      }
    }
    try await eventually { host.statistics.asked + host.statistics.told == 1 }
    await #expect(throws: RemoteError.refused(.busy, "")) {
      try await Vault.keep(text, on: remote)
    }
    #expect(try await Vault.deposit(1, on: remote) == 1)
    bank.vault.isOpen = true
    try await first.value
    try await eventually { host.statistics.answered == 2 }
    try await Vault.keep(text, on: remote)
    // A call that is longer than the limit is taken where no other one is held.
    host.byteLimit = 1000
    try await Vault.keep(text, on: remote)
  }

  @Test(
    "a dead client's call is cancelled at each object that its host exposes, and one that ended first keeps none from it"
  )
  func sharedName() async throws {
    let bank = try Bank(.socket)
    let vaults = [bank.vault, Vault(), Vault()]
    for vault in vaults.dropFirst() { try bank.host.expose(vault, Vault.interface()) }
    vaults[1].naps = 1
    try await Vault.sleep(600_000, on: bank.remote)
    try await eventually { bank.host.statistics.asked == 3 }
    bank.here.close()
    try await eventually { vaults[0].cancellations == 1 && vaults[2].cancellations == 1 }
  }
}
