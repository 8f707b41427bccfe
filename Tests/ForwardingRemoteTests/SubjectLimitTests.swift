// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Testing

@Suite("Names and numbers of subjects", .timeLimit(.minutes(60)))
struct SubjectLimitTests {
  @Test(
    "a subject of more than 1,024 bytes is refused, and the connection goes on",
    arguments: Way.allCases.filter { $0 != .inProcess })
  func subjects(way: Way) async throws {
    let (there, here) = try way.ends()
    let room = 1024 - "forwarding..bank.cancel".utf8.count
    for count in [room, 5000, 70_000] {
      let name = String(UInt32.random(in: 0 ... .max)).padding(count)
      let host = RemoteHost(there, as: name)
      let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
      if count == room {
        try host.expose(Vault(), Vault.interface())
        #expect(try await Vault.deposit(7, on: remote) == 7)
        host.close()
        continue
      }
      let size = count + "forwarding..bank".utf8.count
      let error = TransportError.tooLarge(limit: 1024, given: size)
      #expect(throws: error) { try host.expose(Vault(), Vault.interface()) }
      await #expect(throws: RemoteError.notCarried(error)) {
        try await Vault.deposit(7, on: remote)
      }
      #expect(throws: RemoteError.notCarried(error)) { try Vault.add.message(7, on: remote) }
    }
    let name = "bank \(UInt32.random(in: 0 ... .max))"
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    try host.expose(Vault(), Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3000))
    #expect(try await Vault.deposit(7, on: remote) == 7)
  }

  @Test("two subjects with the same number are refused when they are subscribed to")
  func sameNumber() throws {
    let transport = InProcessTransport()
    let first = try transport.subscribe(to: RemoteSubject(known: "a", number: 7), group: nil) { _ in
    }
    let error = TransportError.failed("'b' and 'a' have the same hash: rename one of them")
    #expect(throws: error) {
      try transport.subscribe(to: RemoteSubject(known: "b", number: 7), group: nil) { _ in }
    }
    first.end()
    try transport.subscribe(to: RemoteSubject(known: "b", number: 7), group: nil) { _ in }.end()
  }
}

extension String {
  fileprivate func padding(_ count: Int) -> String {
    self + String(repeating: "x", count: count - utf8.count)
  }
}
