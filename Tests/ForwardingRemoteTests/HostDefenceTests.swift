// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

import Glibc

/// What one peer can take of a host, and for how long.
@Suite("What a host gives a peer", .timeLimit(.minutes(60)))
struct HostDefenceTests {
  private let path = socketPath()

  /// Waits until a condition holds, for at most a minute.
  private func eventually(_ holds: () -> Bool) async throws {
    for _ in 0..<6000 where !holds() { try await Task.sleep(for: .milliseconds(10)) }
    try #require(holds())
  }

  @Test("told calls have a task, a deadline, and an end with their connection", arguments: [1, 2])
  func told(ending: Int) async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let host = RemoteHost(server, as: "bank")
    host.limit = 100
    if ending == 2 { host.longestCall = .milliseconds(200) }
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let peer = try UnixSocketTransport(connectedTo: path)
    let remote = RemoteProxy(try Vault.interface(), peer, at: "bank")
    for _ in 0..<1000 { try Vault.sleep.message(600_000, on: remote) }
    try await eventually { host.statistics.told + host.statistics.refused >= 1000 }
    let other = try UnixSocketTransport(connectedTo: path)
    let there = RemoteProxy(try Vault.interface(), other, at: "bank", deadline: .seconds(3000))
    // A call of another connection goes on.
    vault.isOpen.store(false, ordering: .relaxed)
    host.limit = 101
    let bystander = Task { try await Vault.hold(on: there) }
    if ending == 1 {
      try await eventually { host.statistics.asked == 1 }
      peer.close()
    }
    try await eventually { vault.cancellations.load(ordering: .relaxed) >= 100 }
    try await eventually { host.statistics.failed + host.statistics.refused >= 1000 }
    vault.isOpen.store(true, ordering: .relaxed)
    if ending == 1 { try await bystander.value }
    #expect(try await Vault.deposit(1, on: there) == 1)
    for transport in [peer, other, server] { transport.close() }
    host.close()
  }

  @Test("a call ends at the host's own time if its caller waits longer", arguments: Way.allCases)
  func longest(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: "longest")
    defer { host.close() }
    host.longestCall = .milliseconds(50)
    try host.expose(Vault(), Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), here, at: "longest", deadline: .seconds(3000))
    await #expect(throws: RemoteError.timedOut) { try await Vault.sleep(600_000, on: remote) }
  }

  @Test(
    "a method that computes does not keep the thread that reads its connection",
    arguments: [true, false])
  func computing(isForwarded: Bool) async {
    await #expect(processExitsWith: .success) { [isForwarded, path = path as String] in
      // Ends a process that waits forever.
      alarm(120)
      let server = try UnixSocketTransport(listeningAt: path)
      let vault = Vault()
      vault.isOpen.store(false, ordering: .relaxed)
      let host = RemoteHost(server, as: "bank")
      let computing = RemoteHost(server, as: "computing")
      try host.expose(vault, Vault.interface())
      // An object that forwards, of whose targets the host knows nothing.
      let several = MulticastProxy()
      several.add(vault, strongly: true)
      try computing.expose(isForwarded ? several : vault, Vault.interface())
      let client = try UnixSocketTransport(connectedTo: path)
      let remotes = try ["bank", "computing"].map {
        RemoteProxy(try Vault.interface(), client, at: $0, deadline: .seconds(60))
      }
      try Vault.spin.message(on: remotes[1])
      require(try await Vault.deposit(1, on: remotes[0]) == 1)
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
    let remote = RemoteProxy(try Tally.interface(), transport, at: "several")
    remote.deadline = .seconds(3000)
    await withTaskGroup(of: Void.self) { tasks in
      for number in 0..<100 {
        tasks.addImmediateTask { _ = try? await Tally.take(number, on: remote) }
      }
    }
    #expect(tally.inOrder == Array(0..<100))
  }

  @Test("the calls that a host holds are limited in bytes, and told ones too", arguments: [1, 2])
  func bytes(kind: Int) async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank")
    defer { host.close() }
    host.byteLimit = 100_000
    let vault = Vault()
    vault.isOpen.store(false, ordering: .relaxed)
    try host.expose(vault, Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), transport, at: "bank", deadline: .seconds(3000))
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
    vault.isOpen.store(true, ordering: .relaxed)
    try await first.value
    try await eventually { host.statistics.answered == 2 }
    try await Vault.keep(text, on: remote)
    // A call that is longer than the limit is taken where no other one is held.
    host.byteLimit = 1000
    try await Vault.keep(text, on: remote)
  }

  @Test("a caller that stopped waiting gets no answer", arguments: [true, false])
  func late(isLate: Bool) async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank")
    defer { host.close() }
    let vault = Vault()
    vault.isOpen.store(false, ordering: .relaxed)
    let interface = try Vault.interface()
    try host.expose(vault, interface)
    let call = try interface.encodeSent(Vault.ignore.message.invocation())
    let answers = Atomic(0)
    let time = isLate ? 1 : Envelope.farAway
    let request = try transport.request(
      Envelope.request(Envelope.asked, number: 7, time: time, call), to: "forwarding.bank.bank"
    ) { _ in answers.add(1, ordering: .relaxed) }
    try await Task.sleep(for: .milliseconds(50))
    vault.isOpen.store(true, ordering: .relaxed)
    try await host.drain(within: .seconds(3000))
    request.end()
    let count = answers.load(ordering: .relaxed)
    #expect(count == (isLate ? 0 : 1))
    #expect(host.statistics.answered == 1)
  }

  @Test("listening goes on after an error of the system that no one expects")
  func accepting() async throws {
    let listening = try SocketListening(at: path)
    let door = listening.descriptor
    // The number is that of a file for a moment, which accepts nothing.
    let kept = dup(door.number)
    let file = open("/dev/null", O_RDONLY)
    dup2(file, door.number)
    let connections = Atomic(0)
    #expect(
      listening.begin { new in
        connections.add(1, ordering: .relaxed)
        new.close()
      })
    try await Task.sleep(for: .milliseconds(100))
    dup2(kept, door.number)
    close(kept)
    close(file)
    let peer = PacketSocket(path)
    try await eventually { connections.load(ordering: .relaxed) == 1 }
    withExtendedLifetime(peer) { listening.end() }
  }

  @Test(
    "a dead client's call is cancelled at each object that its host exposes, and one that ended first keeps none from it"
  )
  func sharedName() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let host = RemoteHost(server, as: "bank")
    let vaults = [Vault(), Vault(), Vault()]
    for vault in vaults { try host.expose(vault, Vault.interface()) }
    let client = try UnixSocketTransport(connectedTo: path)
    let remote = RemoteProxy(
      try Vault.interface(), client, at: "bank", deadline: .seconds(3000))
    vaults[1].naps = 1
    let call = Task { try await Vault.sleep(600_000, on: remote) }
    while host.statistics.asked < 3 || host.statistics.answered < 1 {
      try await Task.sleep(for: .milliseconds(1))
    }
    try await call.value
    client.close()
    for vault in [vaults[0], vaults[2]] {
      while vault.cancellations.load(ordering: .relaxed) < 1 {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    host.close()
    server.close()
  }
}
