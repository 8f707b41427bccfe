// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import RemoteTestSupport
import Synchronization

/// The object that tests expose.
final class Vault: MethodDeclaring, @unchecked Sendable {
  private let sum = Atomic<Int32>(0)
  private let opened = Atomic(true)
  private let cancelled = Atomic(0)
  /// The most milliseconds that `sleep` takes.
  var naps = Int.max
  /// Is called for each deposit; its results are the looks.
  var look: (@Sendable () -> Bool)?
  private(set) var looks: [Bool] = []

  var balance: Int32 { sum.load(ordering: .relaxed) }
  /// The number of cancelled calls of `sleep`.
  var cancellations: Int { cancelled.load(ordering: .relaxed) }
  /// While it is false, `hold`, `keep`, `spin` and `ignore` do not end.
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
  static let sleep = try! AsyncMessage<Void, Int>("vaultSleep:")
  static let hold = try! AsyncMessage<Void>("vaultHold")
  static let keep = try! AsyncMessage<Void, String>("vaultKeep:")
  /// Computes on its thread: for processes of their own, as the threads of tasks are few.
  static let spin = try! AsyncMessage<Void>("vaultSpin")
  /// Waits whether or not its task is cancelled.
  static let ignore = try! AsyncMessage<Void>("vaultIgnore")

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
    methods.register("vaultSleep:") { (vault: Vault, milliseconds: Int) async throws in
      do { try await Task.sleep(for: .milliseconds(min(milliseconds, vault.naps))) } catch {
        vault.cancelled.add(1, ordering: .relaxed)
        throw error
      }
    }
    methods.register("vaultHold") { (vault: Vault) async throws in
      try await eventually { vault.isOpen }
    }
    methods.register("vaultKeep:") { (vault: Vault, _: String) async throws in
      try await eventually { vault.isOpen }
    }
    methods.register("vaultSpin") { (vault: Vault) async in while !vault.isOpen {} }
    methods.register("vaultIgnore") { (vault: Vault) async in
      while !vault.isOpen {
        await withCheckedContinuation { continuation in
          DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) {
            continuation.resume()
          }
        }
      }
    }
  }

  private func add(_ amount: Int32) -> Int32 {
    if let look { looks.append(look()) }
    return sum.wrappingAdd(amount, ordering: .relaxed).newValue
  }

  static func interface(_ limits: WireLimits = WireLimits()) throws -> Interface {
    var interface = Interface("bank", limits: limits)
    for message in [hold.message, spin.message, ignore.message] { try interface.allow(message) }
    try interface.allow(deposit)
    try interface.allow(add)
    try interface.allow(name)
    try interface.allow(text)
    try interface.allow(fail)
    try interface.allow(nest)
    try interface.allow(sleep)
    try interface.allow(keep)
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
    try host.expose(vault, Vault.interface(limits), group: group, on: lane)
    remote = RemoteProxy(
      try Vault.interface(limits), here, at: name, deadline: .seconds(3000))
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

  /// Another proxy for the host, or for a host of another name.
  func proxy(_ interface: Interface? = nil, at name: String? = nil) throws -> RemoteProxy {
    RemoteProxy(
      try interface ?? Vault.interface(), here, at: name ?? self.name, deadline: .seconds(3000))
  }

  var subject: RemoteSubject { RemoteSubject(parts: "forwarding", name, "bank") }

  /// Begins calls that last until they are cancelled, or the vault opens.
  func begin(_ count: Int) async throws -> [Task<Void, any Error>] {
    vault.isOpen = false
    let before = host.statistics.asked
    let calls = (0..<count).map { [remote] _ in Task { try await Vault.hold(on: remote) } }
    try await eventually { self.host.statistics.asked == before + count }
    return calls
  }
}

/// Waits until a condition holds, however long a busy machine takes.
nonisolated(nonsending) func eventually(
  _ holds: nonisolated(nonsending) () async throws -> Bool
) async throws {
  while try await !holds() { try await Task.sleep(for: .milliseconds(1)) }
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
