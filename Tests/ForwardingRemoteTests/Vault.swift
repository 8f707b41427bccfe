// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import Synchronization

/// The object that tests expose.
final class Vault: @unchecked Sendable {
  private let sum = Atomic<Int32>(0)
  /// While it is false, `hold` waits.
  let isOpen = Atomic(true)
  /// The number of cancelled calls of `sleep`.
  let cancellations = Atomic(0)
  /// The most milliseconds that `sleep` takes.
  var naps = Int.max
  var look: (@Sendable () -> Bool)?
  private(set) var looks: [Bool] = []

  var balance: Int32 { sum.load(ordering: .relaxed) }

  static let deposit = try! AsyncMessage<Int32, Int32>("vaultDeposit:")
  static let add = try! AsyncMessage<Void, Int32>("vaultAdd:")
  static let name = try! AsyncMessage<String, String>("vaultName:")
  static let text = try! AsyncMessage<String, Int>("vaultText:")
  static let fail = try! AsyncMessage<Void, Bool>("vaultFail:")
  static let hold = try! AsyncMessage<Void>("vaultHold")
  static let sleep = try! AsyncMessage<Void, Int>("vaultSleep:")

  /// Waits, with the text, until the vault is open.
  static let keep = try! AsyncMessage<Void, String>("vaultKeep:")
  /// Computes on its thread until the vault is open: for processes of their own, as the threads of
  /// tasks are few.
  static let spin = try! AsyncMessage<Void>("vaultSpin")
  /// Waits until the vault is open, whether or not its task is cancelled.
  static let ignore = try! AsyncMessage<Void>("vaultIgnore")

  struct NoRoom: RemoteFailure {
    var remoteCode: Int32 { 28 }
    var remoteText: String { "no room" }
  }

  struct Secret: Error { var password = "1234" }

  private static let isReady: Void = {
    let table = MethodTable.of(Vault.self)
    do {
      try table.register("vaultDeposit:") { (vault: Vault, amount: Int32) in vault.add(amount) }
      try table.register("vaultAdd:") { (vault: Vault, amount: Int32) in _ = vault.add(amount) }
      try table.register("vaultName:") { (_: Vault, name: String) in name + "'s" }
      try table.register("vaultText:") { (_: Vault, count: Int) in
        String(repeating: "x", count: count)
      }
      try table.register("vaultFail:") { (_: Vault, isTold: Bool) in
        if isTold { throw NoRoom() }
        throw Secret()
      }
      try table.register("vaultHold") { (vault: Vault) async throws in
        while !vault.isOpen.load(ordering: .relaxed) {
          try await Task.sleep(for: .milliseconds(1))
        }
      }
      try table.register("vaultKeep:") { (vault: Vault, _: String) async throws in
        while !vault.isOpen.load(ordering: .relaxed) {
          try await Task.sleep(for: .milliseconds(1))
        }
      }
      try table.register("vaultSpin") { (vault: Vault) async in
        while !vault.isOpen.load(ordering: .relaxed) {}
      }
      try table.register("vaultIgnore") { (vault: Vault) async in
        while !vault.isOpen.load(ordering: .relaxed) {
          await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) {
              continuation.resume()
            }
          }
        }
      }
      try table.register("vaultSleep:") { (vault: Vault, milliseconds: Int) async throws in
        do { try await Task.sleep(for: .milliseconds(min(milliseconds, vault.naps))) } catch {
          vault.cancellations.wrappingAdd(1, ordering: .relaxed)
          throw error
        }
      }
    } catch { fatalError("\(error)") }
  }()

  init() { Self.isReady }

  private func add(_ amount: Int32) -> Int32 {
    if let look { looks.append(look()) }
    return sum.wrappingAdd(amount, ordering: .relaxed).newValue
  }

  static func interface() throws -> Interface {
    var interface = Interface("bank")
    try interface.allow(deposit)
    try interface.allow(add)
    try interface.allow(name)
    try interface.allow(text)
    try interface.allow(fail)
    try interface.allow(sleep)
    try interface.allow(hold)
    try interface.allow(keep)
    try interface.allow(spin)
    try interface.allow(ignore)
    return interface
  }
}
