// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import Foundation
import Synchronization
import RemoteTestSupport
import Testing

#if NATS
  import ForwardingNATS
#endif

/// A peer sends as much as it can, and reads nothing. `REMOTE_FLOOD` sets the number of requests.
@Suite("Floods of requests", .serialized, .timeLimit(.minutes(60)))
struct FloodTests {
  private let name = "tally \(UInt32.random(in: 0 ... .max))"
  private let requests =
    Int(ProcessInfo.processInfo.environment["REMOTE_FLOOD"] ?? "") ?? 200_000

  @Test(
    "a host survives a peer that sends and does not read over a socket, and still serves others")
  func socket() async throws {
    let path = socketPath()
    let process = try HostProcess(path, as: name)
    let here = try await HostProcess.connected(to: path)
    let remote = RemoteProxy(try Tally.interface(), here, at: name, deadline: .seconds(3000))
    try await HostProcess.wait(for: remote)
    let endings = Endings()
    await endings.send(0..<100, to: remote, atATime: 10)
    let before = residentKilobytes(of: process.number)
    let flood = try #require(PacketSocket(path))
    let subject = RemoteSubject(parts: "forwarding", name, "tally")
    async let sent = flooding { number, call in
      flood.send(SocketFrame(.asked, number, subject, call).bytes)
    }
    await endings.send(100..<1100, to: remote, atATime: 10)
    #expect(endings.answered.count == 1100, "\(endings.others)")
    #expect(await sent == requests)
    await endings.send(1100..<1200, to: remote, atATime: 10)
    #expect(endings.answered.count == 1200, "\(endings.others)")
    let after = residentKilobytes(of: process.number)
    // At most 4 MB wait to be sent to one peer, plus the memory of each message's entry.
    // AddressSanitizer holds back 256 MB of freed memory, and needs shadow memory for it.
    let room = Sanitizer.current == .address ? 1 << 20 : 65_536
    #expect(before > 0 && after < before + room, "\(before) KB before, \(after) KB after")
    process.end()
  }

  #if NATS
    @Test(
      "a host survives a peer that sends and does not read over NATS, and still serves others",
      .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
    func nats() async throws {
      let server = try NATSServer()
      let process = try HostProcess(server.url, as: name)
      let here = try server.connect()
      let remote = RemoteProxy(try Tally.interface(), here, at: name, deadline: .seconds(3000))
      try await HostProcess.wait(for: remote)
      let endings = Endings()
      await endings.send(0..<100, to: remote, atATime: 10)
      let before = residentKilobytes(of: process.number)
      let flood = try #require(LoopbackSocket(port: server.port))
      let subject = RemoteSubject(parts: "forwarding", name, "tally").name
      _ = flood.send(Array("CONNECT {\"verbose\":false}\r\nSUB _INBOX.flood 1\r\n".utf8))
      async let sent = flooding { number, call in
        flood.send(
          Array("PUB \(subject) _INBOX.flood \(call.count)\r\n".utf8) + call + Array("\r\n".utf8))
      }
      // Calls that arrive when too many wait are dropped, and are sent again.
      remote.deadline = .seconds(1)
      var heard = 0
      var tries = 0
      while heard < 100 {
        tries += 1
        if (try? await Tally.take(1_000_000 + heard, on: remote)) != nil { heard += 1 }
        try #require(tries < 1000)
      }
      _ = await sent
      remote.deadline = .seconds(3000)
      await endings.send(100..<200, to: remote, atATime: 10)
      #expect(endings.answered.count == 200, "\(endings.others)")
      let counts = remote.statistics
      #expect(counts.asked == counts.answered + counts.failed + counts.refused)
      let after = residentKilobytes(of: process.number)
      #expect(before > 0 && after < before + 131_072, "\(before) KB before, \(after) KB after")
      process.end()
    }

    @Test(
      "at most 65,536 messages wait for a listener; further messages are dropped and counted",
      .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
    func waiting() async throws {
      let server = try NATSServer()
      let (there, here) = (try server.connect(), try server.connect())
      let gate = DispatchSemaphore(value: 0)
      let received = Atomic(0)
      let listener = try there.subscribe(to: "news", group: nil) { _ in
        // The first message holds up the others.
        if received.add(1, ordering: .relaxed).newValue == 1 { gate.wait() }
      }
      for _ in 0..<70_000 { try here.publish([1], to: "news") }
      try await here.flush(within: .seconds(3000))
      try await eventually { there.dropped >= 70_000 - 65_537 }
      gate.signal()
      try await eventually { received.load(ordering: .relaxed) >= 70_000 - there.dropped }
      #expect(there.dropped <= 70_000 - 65_536)
      listener.end()
    }
  #endif

  /// Sends requests on a thread as fast as they are accepted, and returns how many.
  private func flooding(
    _ send: @escaping @Sendable (UInt64, [UInt8]) -> Bool
  ) async -> Int {
    let requests = requests
    let call = try? Tally.interface().encodeSent(Tally.take.message.invocation(7))
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var count = 0
        for number in 0..<UInt64(requests) {
          // A second is left.
          let bytes = Envelope.request(Envelope.asked, number: number, time: 1000, call ?? [])
          guard send(number, bytes) else { break }
          count += 1
        }
        continuation.resume(returning: count)
      }
    }
  }
}
