// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import RemoteTestSupport
import Testing

@Suite("Refusals of callers without permission", .timeLimit(.minutes(60)))
struct RemotePermissionTests {
  private let name = "bank \(UInt32.random(in: 0 ... .max))"

  @Test(
    "a caller without permission gets the same refusal whether or not a message exists",
    arguments: Way.allCases)
  func silent(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    // An interface of the same name, with other types and an additional message.
    var other = Interface("bank")
    let wide = try AsyncMessage<Int64, Int64>("vaultDeposit:")
    let unknown = try AsyncMessage<Int64>("vaultCount")
    try other.allow(wide)
    try other.allow(unknown)
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    let guessing = RemoteProxy(other, here, at: name, deadline: .seconds(3000))
    func errors() async throws -> [RemoteRefusal?] {
      func refusal(_ call: () async throws -> Void) async -> RemoteRefusal? {
        do { try await call() } catch RemoteError.refused(let refusal, let text) {
          #expect(refusal != .unauthorized || text.isEmpty)
          return refusal
        } catch { Issue.record("\(error)") }
        return nil
      }
      return await [
        refusal { _ = try await Vault.deposit(1, on: remote) },
        refusal { _ = try await wide(1, on: guessing) },
        refusal { _ = try await unknown(on: guessing) },
      ]
    }
    #expect(try await errors() == [nil, .signatureMismatch, .unknownMessage])
    let asked = LockedValue<[Selector]>([])
    host.authorize = { caller in
      asked.withLock { $0.append(caller.selector) }
      return true
    }
    // `authorize` is not called for a message that the interface lacks.
    #expect(try await errors() == [nil, .signatureMismatch, .unauthorized])
    #expect(asked.withLock { $0 } == ["vaultDeposit:", "vaultDeposit:"])
    host.authorize = { _ in false }
    #expect(try await errors() == [.unauthorized, .unauthorized, .unauthorized])
    #expect(vault.balance == 2)
  }
}
