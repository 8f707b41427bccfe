// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Testing

@Suite("Finding hosts", .timeLimit(.minutes(10)))
struct PresenceTests {
  private let name = "bank \(UInt32.random(in: 0 ... .max))"

  @Test(
    "hosts that announce themselves list what they expose, and other hosts are not listed",
    arguments: Way.allCases)
  func listed(way: Way) async throws {
    let (there, here) = try way.ends()
    let (host, silent) = (RemoteHost(there, as: name), RemoteHost(there, as: name + " silent"))
    defer { host.close() }
    defer { silent.close() }
    try host.announce()
    try host.expose(Vault(), Vault.interface())
    try host.expose(Vault(), Interface("empty"))
    try silent.expose(Vault(), Vault.interface())
    // Hosts of other tests may be on the same server.
    var own: [RemotePresence] = []
    while own.isEmpty {
      own = try await RemotePresence.all(on: here, expecting: 1, within: .seconds(10))
        .filter { $0.name.hasPrefix(name) }
    }
    #expect(own.count == 1)
    #expect(own[0].host == host.number && own[0].name == name)
    #expect(own[0].interfaces == [try Vault.interface().name, "empty"])
    host.close()
    let left = try await RemotePresence.all(on: here, within: .seconds(1))
    #expect(!left.contains { $0.name.hasPrefix(name) })
  }

  @Test("at most the expected number of hosts is listed, and closing ends a repeated announcement")
  func counted() async throws {
    let transport = InProcessTransport()
    let hosts = (0..<3).map { RemoteHost(transport, as: "\(name) \($0)") }
    for host in hosts + hosts { try host.announce() }
    #expect(try await RemotePresence.all(on: transport, expecting: 2).count == 2)
    #expect(try await RemotePresence.all(on: transport, expecting: 3).count == 3)
    for host in hosts { host.close() }
    #expect(try await RemotePresence.all(on: transport).isEmpty)
  }

  @Test(
    "a malformed answer is not listed",
    arguments: [
      [], [1], [255, 255, 0, 0], [1, 0, 1, 0, 65], [1, 0, 0, 0, 65, 66], [1, 0, 0, 0, 255],
    ])
  func strange(body: [UInt8]) async throws {
    let transport = InProcessTransport()
    let listener = try transport.subscribe(to: "forwarding-hosts", group: nil) { message in
      message.answer?([2, 0x84, 0, 0] + message.payload[4..<12] + [1, 2, 3, 4, 5, 6, 7, 8] + body)
    }
    let all = try await RemotePresence.all(on: transport, within: .seconds(1))
    #expect(all.isEmpty)
    listener.end()
  }

  @Test("1,024 interfaces of a host are listed, and a host with more is not listed")
  func manyInterfaces() async throws {
    let transport = InProcessTransport()
    for count in [1024, 1025] {
      let names = [UInt8](repeating: 0, count: 2 * count)
      let listener = try transport.subscribe(to: "forwarding-hosts", group: nil) { message in
        message.answer?(
          [2, 0x84, 0, 0] + message.payload[4..<12] + [1, 2, 3, 4, 5, 6, 7, 8] + [0, 0]
            + [UInt8(count & 0xff), UInt8(count >> 8)] + names)
      }
      let all = try await RemotePresence.all(on: transport, expecting: 1, within: .seconds(1))
      #expect(all.map(\.interfaces.count) == (count == 1024 ? [1024] : []))
      listener.end()
    }
  }

  @Test("a host lists as many interfaces as its transport carries, and at most the first 1,024")
  func listedInPart() async throws {
    for (size, length, count) in [(1 << 20, 4, 1024), (4096, 250, 16)] {
      let transport = InProcessTransport(maximumPayload: size)
      let host = RemoteHost(transport, as: "bank")
      defer { host.close() }
      try host.announce()
      let vault = Vault()
      let names = (0..<1100).map { number in
        String(repeating: "x", count: length - 4) + String(1000 + number)
      }
      for name in names { try host.expose(vault, Interface(name)) }
      let all = try await RemotePresence.all(on: transport, expecting: 1)
      #expect(all.first?.interfaces == Array(names.prefix(count)))
    }
  }
}
