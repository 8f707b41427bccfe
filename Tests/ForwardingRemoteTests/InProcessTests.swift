import Forwarding
import ForwardingRemote
import ForwardingWire
import Testing

@Suite("Calls to other processes")
struct RemoteCallTests {
  @Test("a call is asked, performed and answered")
  func asked() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank-1")
    let vault = Vault()
    try host.expose(vault, try Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), transport, at: "bank-1")
    #expect(try await Vault.deposit(50, on: remote) == 50)
    #expect(try await Vault.deposit(5, on: remote) == 55)
  }
}

final class Vault: @unchecked Sendable {
  var balance: Int32 = 0
  static let deposit = try! AsyncMessage<Int32, Int32>("vaultDeposit:")

  static let isReady: Void = {
    try! MethodTable.of(Vault.self).register("vaultDeposit:") { (vault: Vault, amount: Int32) in
      vault.balance += amount
      return vault.balance
    }
  }()

  init() { Self.isReady }

  static func interface() throws -> Interface {
    var interface = Interface("bank")
    try interface.allow(deposit)
    return interface
  }
}
