// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingNATS
import ForwardingRemote
import ForwardingTestSupport
import Foundation
import Invocations
import RemoteTestSupport
import Testing

/// Processes and servers that are killed, stopped and flooded. `REMOTE_KILLS` sets the
/// number of calls to those that are killed, and `REMOTE_FLOOD` that of requests that flood.
@Suite("Processes and servers that fail", .serialized)
struct ProcessFaultTests {
  @Test(
    "each call ends, and none is performed twice, while hosts are killed six times, or their server twice",
    arguments: Way.outside)
  func killed(way: Way) async throws {
    let process = try HostProcess(way)
    let remote = try await process.reached()
    // Over a server, a call may be lost.
    if way == .nats { remote.deadline = .seconds(5) }
    let before = remote.statistics
    let calls = setting("REMOTE_KILLS", 10_000) / (way == .nats ? 2 : 1)
    let (kills, width) = way == .nats ? (2, 200) : (6, 100)
    let endings = Endings()
    async let sent: Void = endings.send(0..<calls, to: remote, atATime: width)
    await endings.each((1...kills).map { $0 * calls / (kills + 1) }) {
      #expect(throws: Never.self) { try process.killAndStart() }
    }
    await sent
    #expect(endings.sum == calls)
    let (answered, others) = (endings.answered.count, endings.others)
    let interrupted = others["interrupted", default: 0]
    #expect(interrupted > 0, "\(others)")
    if way == .socket {
      // Only calls that were in flight.
      #expect(interrupted <= kills * width, "\(others)")
      #expect(Set(others.keys).isSubset(of: ["interrupted", "unreachable"]))
    } else {
      #expect(Set(others.keys).isSubset(of: ["interrupted", "timed out", "unreachable"]))
    }
    let counts = remote.statistics
    #expect(counts.answered - before.answered == answered)
    #expect(counts.failed - before.failed == calls - answered)
    // Calls work as before, once the host has reached the server again.
    remote.deadline = .seconds(3000)
    try await HostProcess.wait(for: remote)
    if way == .nats { #expect(try await Vault.count(on: remote) >= answered) }
    #expect(try await Vault.twice(on: remote) == 0)
    #expect(try await Vault.take(calls, on: remote) == calls)
    process.end()
  }

  @Test(
    "deadlines hold while a host is stopped, and its late answers do no harm",
    arguments: Way.outside)
  func stopped(way: Way) async throws {
    let process = try HostProcess(way)
    let remote = try await process.reached()
    let before = remote.statistics
    let endings = Endings()
    await endings.send(0..<100, to: remote, atATime: 10)
    process.standStill()
    remote.deadline = .milliseconds(500)
    let begin = ContinuousClock.now
    await endings.send(100..<200, to: remote, atATime: 100)
    let time = ContinuousClock.now - begin
    #expect(time >= .milliseconds(500) && time < .seconds(60), "\(time)")
    #expect(endings.others == ["timed out": 100])
    process.signal(SIGCONT)
    remote.deadline = .seconds(3000)
    await endings.send(200..<300, to: remote, atATime: 10)
    #expect(endings.answered == Set(0..<100).union(200..<300))
    // Calls that were held up were performed or expired; none was performed twice.
    #expect(try await Vault.twice(on: remote) == 0)
    let count = try await Vault.count(on: remote)
    #expect(count >= 200 && count <= 300)
    #expect(remote.statistics.failed - before.failed == 100)
    #expect(remote.statistics.answered - before.answered == 202)
    process.end()
  }

  @Test(
    "a host survives a peer that sends as much as it can and reads nothing, and still serves others",
    arguments: Way.outside)
  func flooded(way: Way) async throws {
    let process = try HostProcess(way)
    let remote = try await process.reached()
    let endings = Endings()
    await endings.send(0..<100, to: remote, atATime: 10)
    let before = residentKilobytes(of: process.number)
    let requests = setting("REMOTE_FLOOD", 120_000)
    async let sent = flooding(requests, try Self.flood(process))
    if way == .socket {
      await endings.send(100..<1100, to: remote, atATime: 10)
      #expect(endings.answered.count == 1100, "\(endings.others)")
      #expect(try await sent == requests)
    } else {
      // Calls that arrive when too many wait are dropped, and are sent again.
      remote.deadline = .seconds(1)
      var (heard, tries) = (100, 0)
      while heard < 200 {
        tries += 1
        await endings.send(heard..<heard + 1, to: remote, atATime: 1)
        if endings.answered.contains(heard) { heard += 1 }
        try #require(tries < 1000)
      }
      _ = try await sent
      // Once a call is answered, no request of the flood waits before the next ones.
      try await HostProcess.wait(for: remote)
      remote.deadline = .seconds(3000)
    }
    await endings.send(1100..<1200, to: remote, atATime: 10)
    let answered = endings.answered.count
    #expect(answered == (way == .socket ? 1200 : 300), "\(endings.others)")
    let counts = remote.statistics
    #expect(counts.asked == counts.answered + counts.failed + counts.refused)
    let after = residentKilobytes(of: process.number)
    // At most 4 MB wait to be sent to one peer, or 65,536 messages of a server, plus the memory of
    // each message's entry. AddressSanitizer holds back 256 MB of freed memory, and needs shadow
    // memory for it.
    let room = Sanitizer.current == .address ? 1 << 20 : way == .socket ? 65_536 : 131_072
    #expect(before > 0 && after < before + room, "\(before) KB before, \(after) KB after")
    process.end()
  }

  /// Sends a request of a number to a process, until that does not accept any more.
  private static func flood(
    _ process: HostProcess
  ) throws -> @Sendable (UInt64, [UInt8]) -> Bool {
    let subject = Bank.subject(process.name)
    #if NATS
      if let server = process.server {
        let flood = try #require(LoopbackSocket(port: server.port))
        _ = flood.send(Array("CONNECT {\"verbose\":false}\r\nSUB _INBOX.flood 1\r\n".utf8))
        return { _, call in
          let head = "PUB \(subject.name) _INBOX.flood \(call.count)\r\n"
          return flood.send(Array(head.utf8) + call + Array("\r\n".utf8))
        }
      }
    #endif
    let flood = try #require(PacketSocket(process.address))
    return { number, call in flood.send(SocketFrame(.asked, number, subject, call).bytes) }
  }

  /// Sends requests on a thread as fast as they are accepted, and returns how many.
  private func flooding(
    _ requests: Int, _ send: @escaping @Sendable (UInt64, [UInt8]) -> Bool
  ) async throws -> Int {
    let call = try Vault.interface().encodeSent(Vault.take.message.invocation(7))
    return await withCheckedContinuation { continuation in
      beginThread {
        // A second is left.
        let count = (0..<UInt64(requests)).prefix { number in
          send(number, Envelope.request(Envelope.asked, number: number, time: 1000, call))
        }.count
        continuation.resume(returning: count)
      }
    }
  }

  #if NATS
    @Test(
      "three of five hosts die during a gathering: the others answer", .natsServer)
    func dyingHosts() async throws {
      let first = try HostProcess(.nats)
      let hosts = try [first] + (0..<4).map { _ in try HostProcess(.nats, beside: first) }
      let all = try await first.reached()
      func answers(within limit: Duration) async throws -> Int {
        try await all.gather(expecting: 5, within: limit) { try await Vault.take(1, on: $0) }
          .answers.count
      }
      while try await answers(within: .milliseconds(200)) < 5 {}
      let asked = all.statistics.asked
      let begin = ContinuousClock.now
      for host in hosts { host.standStill() }
      async let rest = answers(within: .seconds(15))
      // The message is sent, and no host has answered.
      try await eventually { all.statistics.asked > asked }
      for host in hosts[..<3] { host.signal(SIGKILL) }
      for host in hosts[3...] { host.signal(SIGCONT) }
      #expect(try await rest == 2)
      let time = ContinuousClock.now - begin
      #expect(time >= .seconds(15) && time < .seconds(100), "\(time)")
      for host in hosts { host.end() }
    }
  #endif
}
