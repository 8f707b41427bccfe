// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import Invocations
import RemoteTestSupport
import Testing

import Glibc

/// Bytes that no process of this package sends, each with the answer that it gets.
@Suite("Hostile messages")
struct HostileMessageTests {
  /// A change to a request for a deposit, and the refusal that it leads to.
  private struct Harm {
    let name: String
    let refusal: RemoteRefusal
    let change: @Sendable (inout [UInt8]) -> Void

    init(
      _ name: String, _ refusal: RemoteRefusal,
      _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) {
      (self.name, self.refusal, self.change) = (name, refusal, change)
    }
  }

  /// The offset of the call in a request, and of the parts of the call.
  private static let call = 12
  private static let types = call + 4
  private static let arguments = call + 8

  private static let harms = [
    Harm("nothing at all", .malformed) { $0 = [] },
    Harm("a version and no more", .malformed) { $0 = [2] },
    Harm("half a head", .malformed) { $0 = Array($0.prefix(6)) },
    Harm("a head without a call", .malformed) { $0 = Array($0.prefix(call)) },
    Harm("half a fingerprint", .malformed) { $0 = Array($0.prefix(types)) },
    Harm("one byte less", .malformed) { $0.removeLast() },
    Harm("one byte more", .malformed) { $0.append(0) },
    Harm("the version before this one", .version) { $0[0] = 1 },
    Harm("another version", .version) { $0[0] = 3 },
    Harm("another version, and no more", .version) { $0 = [255] },
    Harm("a kind that there is not", .malformed) { $0[1] = 9 },
    Harm("a kind of answers", .malformed) { $0[1] = 0x81 },
    Harm("a word for where calls are cancelled", .malformed) { $0[1] = 4 },
    Harm("a message that the list has not", .unknownMessage) { $0[call] ^= 1 },
    Harm("types that differ", .signatureMismatch) { $0[types] ^= 1 },
    Harm("the fingerprint of another interface", .unknownMessage) {
      let other = Fingerprint(
        Array("bang".utf8), Array("vaultDeposit:".utf8), Array("i@:i".utf8))
      $0.replaceSubrange(call..<arguments, with: Envelope.bytes(of: other))
    },
    Harm("an argument less", .malformed) { $0.removeLast(4) },
    Harm("an argument more", .malformed) { $0 += [0, 0, 0, 0] },
  ]

  /// Changes to a request on the subject of cancels, where each is malformed.
  private static let misplaced: [@Sendable (inout [UInt8]) -> Void] = [
    { _ in }, { $0[1] = 2 }, { $0 = Array($0.prefix(call)) }, { $0[1] = 4 }, { $0 = [] },
    { $0 = [2, 4, 0, 0] },
  ]

  private func deposit() throws -> [UInt8] {
    let call = try Vault.interface().encodeSent(Vault.deposit.message.invocation(1))
    try #require(call.count + Self.call == Self.arguments + 4)
    return Envelope.request(Envelope.asked, number: 7, call)
  }

  @Test(
    "each hostile message is refused for its own reason, and the host goes on",
    arguments: Way.allCases)
  func refused(way: Way) async throws {
    let bank = try Bank(way)
    let good = try deposit()
    func refusal(_ change: (inout [UInt8]) -> Void, at subject: RemoteSubject) async throws
      -> RemoteRefusal?
    {
      var bytes = good
      change(&bytes)
      let answer = try await ask(bank.here, bytes, subject).get()
      // The number of the request, or zeros if it is too short to have one.
      #expect(answer[4..<12].elementsEqual(bytes.count < Self.call ? Envelope.none : good[4..<12]))
      return Envelope.refusal(of: answer)
    }
    for harm in Self.harms {
      #expect(try await refusal(harm.change, at: bank.subject) == harm.refusal, "\(harm.name)")
    }
    for change in Self.misplaced {
      #expect(try await refusal(change, at: Envelope.cancels(of: bank.subject)) == .malformed)
    }
    #expect(bank.vault.balance == 0)
    #expect(bank.host.statistics.refused == Self.harms.count + Self.misplaced.count)
    // All but the nine whose head is right.
    #expect(bank.host.statistics.strange == Self.harms.count - 9 + Self.misplaced.count)
    // The same bytes without the change.
    #expect(try await ask(bank.here, good, bank.subject).get()[1] == Envelope.answered)
    #expect(bank.vault.balance == 1)
  }

  @Test("malformed answers are ignored, and the right one is still accepted")
  func answers() async throws {
    let liar = try Pretender { message in
      let good = Envelope.answer(Envelope.answered, host: 9, to: message.payload, [7, 0, 0, 0])
      func flipped(_ place: Int) -> [UInt8] {
        good[..<place] + [good[place] ^ 1] + good[(place + 1)...]
      }
      let strange: [[UInt8]] = [
        [], [2], Array(good.prefix(19)), [1] + good.dropFirst(), [2, 1, 0, 0] + good.dropFirst(4),
        [2, 0x81, 0, 1] + good.dropFirst(4), [2, 0x82, 0, 0] + good.dropFirst(4).prefix(18),
        // Refused by another version, but not because of that.
        [3, 0x83, 1, 0] + good.dropFirst(4),
        // The answer to another request.
        flipped(4), flipped(11),
      ]
      for bytes in strange + [good] { message.answer?(bytes) }
    }
    #expect(try await Vault.deposit(1, on: liar) == 7)
    #expect(liar.statistics.strange == 10)
  }

  @Test(
    "a host of another version refuses a call, and the caller gets an error that says so",
    arguments: [1, 3, 255] as [UInt8])
  func otherHost(version: UInt8) async throws {
    let other = try Pretender { message in
      let refusal = Envelope.answer(
        Envelope.refused, refusal: RemoteRefusal.version.rawValue, host: 7, to: message.payload)
      message.answer?([version] + refusal.dropFirst())
    }
    await #expect(throws: RemoteError.refused(.version, "")) {
      try await Vault.deposit(1, on: other)
    }
    #expect(other.statistics.refused == 1)
  }
}

@Suite("Peers, as the transport knows them")
struct PeerTests {
  private static let peers: [TransportPeer] = [
    .process(id: 1, user: 0, group: 0), .process(id: 2, user: 0, group: 0),
    .process(id: 1, user: 1, group: 0), .process(id: 1, user: 0, group: 1), .thisProcess, .network,
  ]

  private let transport = StagedTransport()
  private let bank: Bank
  private var vault: Vault { bank.vault }
  private var host: RemoteHost { bank.host }

  init() throws { bank = try Bank((transport, transport)) }

  /// Sends a call or a cancel as a peer. Returns its answers, which may still come.
  @discardableResult
  private func receive(
    _ kind: UInt8, _ number: UInt64, _ call: Invocation? = nil, from peer: TransportPeer,
    time: UInt16 = Envelope.farAway, cut: Int = 0
  ) throws -> Guarded<[[UInt8]]> {
    let bytes = try call.map { try Vault.interface().encodeSent($0) } ?? []
    let answers = Guarded<[[UInt8]]>([])
    transport.peer.withLock { $0 = peer }
    _ = try transport.inner.request(
      Envelope.request(kind, number: number, time: time, bytes.dropLast(cut)),
      to: kind == Envelope.cancel ? Envelope.cancels(of: bank.subject) : bank.subject
    ) { answer in
      if let bytes = try? answer.get() { answers.withLock { $0.append(bytes) } }
    }
    return answers
  }

  @Test("a call is cancelled only by its own peer, with its own number")
  func cancelled() async throws {
    let peer = Self.peers[0]
    try receive(Envelope.asked, 1, Vault.sleep.message.invocation(600_000), from: peer)
    #expect(host.statistics.asked == 1)
    for other in Self.peers.dropFirst() { try receive(Envelope.cancel, 1, from: other) }
    try receive(Envelope.cancel, 2, from: peer)
    // A call that was cancelled and one that was not both end quickly.
    let second = try receive(Envelope.asked, 3, Vault.sleep.message.invocation(50), from: peer)
    try await eventually { second.read { !$0.isEmpty } }
    #expect(vault.cancellations == 0)
    try receive(Envelope.cancel, 1, from: peer)
    try await eventually { host.statistics.failed + host.statistics.refused == 1 }
    // It was cancelled, and has not expired.
    #expect(vault.cancellations == 1 && host.statistics.failed == 1)
  }

  @Test("`authorize` gets the peer that the transport names")
  func authorized() async throws {
    host.authorize = { $0.peer == Self.peers[1] }
    let refusals = try Self.peers.map { peer in
      try receive(Envelope.asked, 1, Vault.deposit.message.invocation(1), from: peer)
        .read { Envelope.refusal(of: $0[0]) }
    }
    #expect(
      refusals == [.unauthorized, nil, .unauthorized, .unauthorized, .unauthorized, .unauthorized])
    #expect(vault.balance == 1)
    // Over a socket, the kernel names it.
    let socket = try Bank(.socket)
    socket.host.authorize = { $0.peer == .process(id: getpid(), user: getuid(), group: getgid()) }
    #expect(try await Vault.deposit(7, on: socket.remote) == 7)
  }

  @Test("a message without an answer gets none, not even a refusal, if it names a subject for one")
  func told() throws {
    let add = try Vault.add.message.invocation(1)
    func isUnanswered(cut: Int = 0) throws -> Bool {
      try receive(Envelope.told, 1, add, from: .network, cut: cut).read { $0.isEmpty }
    }
    #expect(try isUnanswered() && isUnanswered(cut: 10))
    host.limit = 0
    #expect(try isUnanswered())
    #expect(vault.balance == 1 && host.statistics.told == 2 && host.statistics.refused == 2)
  }

  @Test("a caller that stopped waiting gets no answer", arguments: [true, false])
  func late(isLate: Bool) async throws {
    vault.isOpen = false
    vault.working = { [vault] number in
      // Whether or not its task is cancelled.
      await Task.detached { while !vault.isOpen { try? await Task.sleep(for: .milliseconds(1)) } }
        .value
      return number
    }
    let answers = try receive(
      Envelope.asked, 7, Vault.work.message.invocation(1), from: .network,
      time: isLate ? 1 : Envelope.farAway)
    try await Task.sleep(for: .milliseconds(50))
    vault.isOpen = true
    try await host.drain(within: .seconds(3000))
    #expect(answers.read { $0.count } == (isLate ? 0 : 1))
    #expect(host.statistics.answered == 1)
    vault.working = { $0 }
  }
}

/// What one peer can take of a host, and for how long.
@Suite("What a host gives a peer")
struct HostDefenceTests {
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

  @Test(
    "the calls that a host holds are limited in bytes, and told ones too", arguments: [true, false])
  func bytes(isAsked: Bool) async throws {
    let bank = try Bank()
    let (host, remote) = (bank.host, bank.remote)
    host.byteLimit = 100_000
    bank.vault.isOpen = false
    let text = String(repeating: "x", count: 60_000)
    let first = Task {
      if isAsked {
        try await Vault.hold(text, on: remote)
      } else {
        try Vault.hold.message(text, on: remote)
      }
    }
    try await eventually { host.statistics.asked + host.statistics.told == 1 }
    await #expect(throws: RemoteError.refused(.busy, "")) {
      try await Vault.hold(text, on: remote)
    }
    #expect(try await Vault.deposit(1, on: remote) == 1)
    bank.vault.isOpen = true
    try await first.value
    try await eventually { host.statistics.answered == 2 }
    try await Vault.hold(text, on: remote)
    // A call that is longer than the limit is taken where no other one is held.
    host.byteLimit = 1000
    try await Vault.hold(text, on: remote)
  }

  @Test("a call ends at the host's own time if its caller waits longer", arguments: Way.allCases)
  func longest(way: Way) async throws {
    let bank = try Bank(way)
    bank.host.longestCall = .milliseconds(50)
    await #expect(throws: RemoteError.timedOut) { try await Vault.sleep(600_000, on: bank.remote) }
  }

  @Test(
    "told calls have a task, a deadline, and an end with their connection",
    arguments: [true, false])
  func told(isClosed: Bool) async throws {
    let path = socketPath()
    let server = try UnixSocketTransport(listeningAt: path)
    let bank = try Bank((server, UnixSocketTransport(connectedTo: path)))
    let (host, vault) = (bank.host, bank.vault)
    host.limit = 100
    if !isClosed { host.longestCall = .milliseconds(200) }
    for _ in 0..<1000 { try Vault.sleep.message(600_000, on: bank.remote) }
    try await eventually { host.statistics.told + host.statistics.refused >= 1000 }
    let other = try Bank.remote(UnixSocketTransport(connectedTo: path), at: bank.name)
    // A call of another connection goes on.
    vault.isOpen = false
    host.limit = 101
    let bystander = Task { try await Vault.hold("", on: other) }
    if isClosed {
      try await eventually { host.statistics.asked == 1 }
      bank.here.close()
    }
    try await eventually { vault.cancellations >= 100 }
    try await eventually { host.statistics.failed + host.statistics.refused >= 1000 }
    vault.isOpen = true
    if isClosed { try await bystander.value }
    #expect(try await Vault.deposit(1, on: other) == 1)
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

  @Test(
    "a method that computes does not keep the thread that reads its connection",
    arguments: [true, false])
  func computing(isForwarded: Bool) async {
    await #expect(processExitsWith: .success) { [isForwarded] in
      // Ends a process that waits forever.
      alarm(120)
      let bank = try Bank(.socket)
      bank.vault.working = { _ in while true {} }
      let computing = RemoteHost(bank.there, as: "computing")
      // An object that forwards, of whose targets the host knows nothing.
      let several = MulticastProxy()
      several.add(bank.vault, strongly: true)
      try computing.expose(isForwarded ? several : bank.vault, Vault.interface())
      let remote = try bank.proxy(at: "computing")
      _ = Task { try await Vault.work(1, on: remote) }
      try await eventually { computing.statistics.asked == 1 }
      require(try await Vault.deposit(1, on: bank.remote) == 1)
      require(computing.statistics.answered == 0)
      _exit(0)
    }
  }
}

/// Where a target receives its messages.
enum Lane: String, CaseIterable {
  case caller, queue, blocking, blockingForAMoment, executor

  func on(_ queue: DispatchQueue = DispatchQueue(label: "lane")) -> DeliveryLane {
    switch self {
    case .caller: .caller
    case .queue: .queue(queue)
    case .blocking: .blocking(queue)
    case .blockingForAMoment: .blocking(queue, deadline: .milliseconds(1))
    case .executor: .executor(Executor(queue))
    }
  }

  private final class Executor: TaskExecutor {
    private let queue: DispatchQueue
    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}

@Suite("The limit of a host whose lane stands still")
struct LaneLimitTests {
  /// A bank whose lane stands still until the gate is opened.
  private func bank(_ lane: Lane) throws -> (Bank, gate: DispatchSemaphore) {
    let (queue, gate) = (DispatchQueue(label: "lane"), DispatchSemaphore(value: 0))
    let bank = try Bank(on: lane.on(queue))
    queue.async { gate.wait() }
    return (bank, gate)
  }

  @Test(
    "calls that have ended before their turn count until their turn",
    arguments: Lane.allCases.filter { $0 != .caller }, [false, true])
  func ended(lane: Lane, suspends: Bool) async throws {
    let (bank, gate) = try bank(lane)
    let (host, remote) = (bank.host, bank.remote)
    host.limit = 10
    remote.deadline = .milliseconds(10)
    func call() async {
      if suspends {
        try? await Vault.sleep(0, on: remote)
      } else {
        _ = try? await Vault.deposit(1, on: remote)
      }
    }
    while host.statistics.asked < 10 { await call() }
    for _ in 0..<20 { await call() }
    #expect(host.statistics.asked == 10)
    gate.signal()
    remote.deadline = .seconds(3000)
    // The lane drops the calls, so there is room for others.
    try await eventually { (try? await Vault.deposit(0, on: remote)) != nil }
    #expect(bank.vault.balance == 0)
    // Ten at a time, again and again: no place is lost.
    for _ in 0..<5 {
      try await withThrowingTaskGroup { group in
        for _ in 0..<10 {
          group.addTask {
            do { _ = try await Vault.deposit(0, on: remote) } catch {
              guard lane == .blockingForAMoment else { throw error }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("a host that drains does not wait for calls that have ended")
  func draining() async throws {
    let (bank, gate) = try bank(.queue)
    bank.remote.deadline = .milliseconds(1)
    await #expect(throws: RemoteError.timedOut) { try await Vault.deposit(1, on: bank.remote) }
    try await bank.host.drain(within: .seconds(3000))
    gate.signal()
    #expect(bank.vault.balance == 0)
  }
}
