// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

@Suite("Cancelling calls of a group", .timeLimit(.minutes(60)))
struct GroupCancelTests {
  private let name = "bank \(UInt32.random(in: 0 ... .max))"

  private var subject: RemoteSubject { RemoteSubject(parts: "forwarding", name, "bank") }
  private var cancels: RemoteSubject {
    RemoteSubject(parts: "forwarding", name, "bank", "cancel")
  }

  /// A request as in Documentation/Wire.md.
  private func request(_ call: [UInt8], kind: UInt8) -> [UInt8] {
    Envelope.request(kind, number: 7, call)
  }

  @Test("a cancel reaches the member of a group that performs the call", arguments: Way.allCases)
  func group(way: Way) async throws {
    let (there, here) = try way.ends()
    let hosts = (0..<3).map { _ in RemoteHost(there, as: name) }
    defer { for host in hosts { host.close() } }
    let vaults = hosts.map { _ in Vault() }
    for (host, vault) in zip(hosts, vaults) {
      try host.expose(vault, Vault.interface(), group: "tellers")
    }
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    let calls = (0..<7).map { _ in Task { try await Vault.sleep(600_000, on: remote) } }
    while hosts.map(\.statistics.asked).reduce(0, +) < 7 {
      try await Task.sleep(for: .milliseconds(1))
    }
    let begun = hosts.map(\.statistics.asked)
    // The last call goes on, as it is not cancelled.
    for call in calls.dropLast() { call.cancel() }
    for call in calls.dropLast() {
      await #expect(throws: RemoteError.cancelled) { try await call.value }
    }
    func cancelled() -> [Int] { vaults.map { $0.cancellations.load(ordering: .relaxed) } }
    while cancelled().reduce(0, +) < 6 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(zip(cancelled(), begun).allSatisfy { $0 <= $1 })
    calls.last?.cancel()
    while cancelled() != begun { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test("calls are refused on the subject of cancels, and cancels on the subject of calls")
  func elsewhere() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: name)
    defer { host.close() }
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let call = try Vault.interface().encodeSent(Vault.deposit.message.invocation(5))
    func refused(_ bytes: [UInt8], _ subject: RemoteSubject) throws -> Bool {
      let answer = LockedValue<[UInt8]>([])
      let asked = try transport.request(bytes, to: subject) { result in
        answer.withLock { $0 = (try? result.get()) ?? [] }
      }
      asked.end()
      return answer.withLock { Array($0.prefix(4)) }
        == [2, 0x83, RemoteRefusal.malformed.rawValue, 0]
    }
    let harms: [[UInt8]] = [
      request(call, kind: 1), request(call, kind: 2), request([], kind: 3), request(call, kind: 4),
      [], [2, 4, 0, 0],
    ]
    for bytes in harms { #expect(try refused(bytes, cancels)) }
    #expect(try refused(request([], kind: 4), subject))
    #expect(vault.balance == 0)
    #expect(host.statistics.strange == 7)
  }
}
