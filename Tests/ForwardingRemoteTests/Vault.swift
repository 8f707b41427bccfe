// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import Invocations
import RemoteTestSupport
import Synchronization
import Testing

/// The object that tests expose, in this process or in another one.
final class Vault: MethodDeclaring, @unchecked Sendable {
  private let sum = Atomic<Int32>(0)
  private let opened = Atomic(true)
  private let cancelled = Atomic(0)
  private let taken = LockedValue((numbers: Set<Int>(), twice: 0))
  /// The most milliseconds that `sleep` takes.
  var naps = Int.max
  /// Is called with each deposit.
  var look: (@Sendable (Int32) -> Void)?
  /// What `work` does.
  var working: @Sendable (Int32) async throws -> Int32 = { $0 }

  var balance: Int32 { sum.load(ordering: .relaxed) }
  /// The number of cancelled calls of `sleep`.
  var cancellations: Int { cancelled.load(ordering: .relaxed) }
  /// While it is false, `hold` does not end.
  var isOpen: Bool {
    get { opened.load(ordering: .relaxed) }
    set { opened.store(newValue, ordering: .relaxed) }
  }

  static let deposit = try! AsyncMessage<Int32, Int32>("vaultDeposit:")
  static let add = try! AsyncMessage<Void, Int32>("vaultAdd:")
  static let name = try! AsyncMessage<String, String>("vaultName:")
  /// A text of so many bytes.
  static let text = try! AsyncMessage<String, Int>("vaultText:")
  /// Throws an error with a text of so many bytes or, for a negative number, one that is a secret.
  static let fail = try! AsyncMessage<Void, Int>("vaultFail:")
  static let nest = try! AsyncMessage<Bool, Nest>("vaultNest:")
  /// The word in small letters.
  static let spell = try! AsyncMessage<Word, Word>("vaultSpell:")
  static let sleep = try! AsyncMessage<Void, Int>("vaultSleep:")
  static let hold = try! AsyncMessage<Void, String>("vaultHold:")
  static let work = try! AsyncMessage<Int32, Int32>("vaultWork:")
  /// Returns the number.
  static let take = try! AsyncMessage<Int, Int>("vaultTake:")
  /// How many numbers `take` received, and how many of them again.
  static let count = try! AsyncMessage<Int>("vaultCount")
  static let twice = try! AsyncMessage<Int>("vaultTwice")

  struct NoRoom: RemoteFailure {
    let count: Int
    var remoteCode: Int32 { 28 }
    var remoteText: String { String(repeating: "x", count: count) }
  }
  struct Secret: Error { var password = "1234" }
  /// Lists in lists: each is an object with a list, which makes two levels.
  struct Nest: Codable, Sendable {
    var inner: [Nest] = []
    init(_ depth: Int) { if depth > 2 { inner = [Nest(depth - 2)] } }
  }
  /// A value whose decoding and encoding throw errors of their own.
  struct Word: Codable, Equatable {
    var text: String

    init(_ text: String) { self.text = text }

    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
      if text == "decode" { throw Secret() }
      if text == "corrupt" {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "is not 1234"))
      }
    }

    func encode(to encoder: any Encoder) throws {
      if text == "encode" { throw Secret() }
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("vaultDeposit:") { (vault: Vault, amount: Int32) in vault.add(amount) }
    methods.register("vaultAdd:") { (vault: Vault, amount: Int32) in _ = vault.add(amount) }
    methods.register("vaultName:") { (_: Vault, name: String) in name + "'s" }
    methods.register("vaultText:") { (_: Vault, count: Int) in
      String(repeating: "x", count: count)
    }
    methods.register("vaultFail:") { (_: Vault, count: Int) throws in
      if count < 0 { throw Secret() }
      throw NoRoom(count: count)
    }
    methods.register("vaultNest:") { (_: Vault, _: Nest) in true }
    methods.register("vaultSpell:") { (_: Vault, word: Word) in Word(word.text.lowercased()) }
    methods.register("vaultSleep:") { (vault: Vault, milliseconds: Int) async throws in
      do { try await Task.sleep(for: .milliseconds(min(milliseconds, vault.naps))) } catch {
        vault.cancelled.add(1, ordering: .relaxed)
        throw error
      }
    }
    methods.register("vaultHold:") { (vault: Vault, _: String) async throws in
      try await eventually { vault.isOpen }
    }
    methods.register("vaultWork:") { (vault: Vault, number: Int32) async throws in
      try await vault.working(number)
    }
    methods.register("vaultTake:") { (vault: Vault, number: Int) in
      vault.taken.withLock { if !$0.numbers.insert(number).inserted { $0.twice += 1 } }
      return number
    }
    methods.register("vaultCount") { (vault: Vault) in vault.taken.withLock { $0.numbers.count } }
    methods.register("vaultTwice") { (vault: Vault) in vault.taken.withLock { $0.twice } }
  }

  private func add(_ amount: Int32) -> Int32 {
    look?(amount)
    return sum.wrappingAdd(amount, ordering: .relaxed).newValue
  }

  static func interface(
    named title: String = "bank", _ limits: WireLimits = WireLimits()
  ) throws -> Interface {
    var interface = Interface(title, limits: limits)
    for message in [deposit, work] { try interface.allow(message) }
    for message in [fail, sleep] { try interface.allow(message) }
    for message in [count, twice] { try interface.allow(message) }
    try interface.allow(add)
    try interface.allow(name)
    try interface.allow(text)
    try interface.allow(nest)
    try interface.allow(spell)
    try interface.allow(hold)
    try interface.allow(take)
    return interface
  }
}

/// A host of a vault, and a proxy whose calls have all the time that a busy machine may need.
final class Bank: Sendable {
  let name: String
  let there: any Transport
  let here: any Transport
  let vault = Vault()
  let host: RemoteHost
  let remote: RemoteProxy

  /// Makes a bank of a random name, as a server is shared with other tests.
  init(
    _ ends: (any Transport, any Transport),
    as name: String = "bank.1 * \(UInt32.random(in: 0 ... .max))",
    limits: WireLimits = WireLimits(),
    group: String? = nil, on lane: DeliveryLane? = nil
  ) throws {
    (there, here) = ends
    self.name = name
    host = RemoteHost(there, as: name)
    remote = try Self.remote(here, at: name, Vault.interface(limits))
    try host.expose(vault, remote.interface, group: group, on: lane)
  }

  convenience init(_ way: Way = .inProcess, on lane: DeliveryLane? = nil) throws {
    try self.init(way.ends(), on: lane)
  }

  deinit { host.close() }

  /// Hosts of one name, which share calls if they have a group.
  static func several(
    _ count: Int, _ way: Way = .inProcess, group: String? = nil
  ) throws -> [Bank] {
    let ends = try way.ends()
    let name = "bank \(UInt32.random(in: 0 ... .max))"
    return try (0..<count).map { _ in try Bank(ends, as: name, group: group) }
  }

  /// A proxy for the hosts of a name.
  static func remote(
    _ transport: any Transport, at name: String, _ interface: Interface? = nil
  ) throws -> RemoteProxy {
    RemoteProxy(
      try interface ?? Vault.interface(), transport, at: name, deadline: .seconds(3000))
  }

  /// Another proxy for the host, or for a host of another name.
  func proxy(_ interface: Interface? = nil, at name: String? = nil) throws -> RemoteProxy {
    try Self.remote(here, at: name ?? self.name, interface)
  }

  static func subject(_ name: String) -> RemoteSubject {
    RemoteSubject(parts: "forwarding", name, "bank")
  }
  var subject: RemoteSubject { Self.subject(name) }

  /// Begins calls that last until they are cancelled, or the vault opens.
  func begin(_ count: Int) async throws -> [Task<Void, any Error>] {
    vault.isOpen = false
    let before = host.statistics.asked
    let calls = (0..<count).map { [remote] _ in Task { try await Vault.hold("", on: remote) } }
    try await eventually { self.host.statistics.asked == before + count }
    return calls
  }
}

/// A proxy for a host that answers each message with any bytes.
final class Pretender: RemoteProxy, @unchecked Sendable {
  private let transport = InProcessTransport()

  init(_ answer: @escaping @Sendable (TransportMessage) -> Void) throws {
    super.init(try Vault.interface(), transport, at: "pretender", deadline: .seconds(3000))
    _ = try transport.subscribe(to: Bank.subject("pretender"), group: nil, answer)
  }

  deinit { transport.close() }
}

/// Notes the changes of a connection.
func changes(of transport: any Transport) -> (Guarded<[TransportState]>, any TransportSubscription)
{
  let states = Guarded<[TransportState]>([])
  return (states, transport.onChange { state in states.withLock { $0.append(state) } })
}

/// Waits until a condition holds, as long as the busiest machine takes. Where other tests keep all threads busy for
/// minutes, the tasks that make the condition hold get as few turns as this one: it gives up after many turns, too.
nonisolated(nonsending) func eventually(
  _ holds: nonisolated(nonsending) () async throws -> Bool,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let end = ContinuousClock.now + .seconds(200)
  var turns = 0
  while try await !holds() {
    turns += 1
    if turns > 2000, ContinuousClock.now > end {
      Issue.record("this does not come to hold", sourceLocation: sourceLocation)
      throw CancellationError()
    }
    try await Task.sleep(for: .milliseconds(1))
  }
}

/// Sends a request, and returns the first answer.
nonisolated(nonsending) func ask(
  _ transport: any Transport, _ payload: [UInt8], _ subject: RemoteSubject
) async throws -> Result<[UInt8], TransportError> {
  let (answers, feed) = AsyncStream.makeStream(of: Result<[UInt8], TransportError>.self)
  let request = try transport.request(payload, to: subject) { feed.yield($0) }
  defer { request.end() }
  for await answer in answers { return answer }
  throw TransportError.timedOut
}
