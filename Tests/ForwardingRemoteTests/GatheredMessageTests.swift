// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import Testing

import Glibc

@Suite("The one message of a gathering", .timeLimit(.minutes(60)))
struct GatheredMessageTests {
  /// The error of a gathering, which throws it even if its closure does not.
  private static func refusal(
    _ remote: RemoteProxy,
    _ send: nonisolated(nonsending) (any ForwardingProxy & Sendable) async throws -> Int32
  ) async -> RemoteError? {
    do {
      _ = try await remote.gather(expecting: 1, send)
      return nil
    } catch { return error as? RemoteError }
  }

  @Test("a second message is refused, and its answers are not mixed with those of the first")
  func second() async throws {
    let transport = InProcessTransport()
    let hosts = (0..<2).map { _ in RemoteHost(transport, as: "town") }
    defer { for host in hosts { host.close() } }
    for host in hosts { try host.expose(Vault(), Vault.interface()) }
    let remote = RemoteProxy(
      try Vault.interface(), transport, at: "town", deadline: .seconds(3000))
    let second = RemoteError.gathersOne(Vault.deposit.message.selector)
    let thrown = await Self.refusal(remote) { all in
      _ = try await Vault.name("Ann", on: all)
      return try await Vault.deposit(5, on: all)
    }
    #expect(thrown == second)
    let caught = await Self.refusal(remote) { all in
      let sum = try await Vault.deposit(5, on: all)
      _ = try? await Vault.deposit(6, on: all)
      return sum
    }
    #expect(caught == second)
    // The second messages were not sent.
    #expect(hosts.allSatisfy { $0.statistics.asked == 2 })
    let one = try await remote.gather(expecting: 2) { try await Vault.deposit(1, on: $0) }
    #expect(one.values == [6, 6])
    #expect("\(second)" == "a gathering sends one message, but 'vaultDeposit:' is a second one")
  }

  @Test("answers of 64 MB in all are accepted, and not one byte more", arguments: [0, 1])
  func bytes(extra: Int) async throws {
    let transport = InProcessTransport()
    // Each answer counts with its head of 20 bytes, and a kilobyte more.
    let body = [UInt8](repeating: 0, count: (1 << 20) - 1044)
    let crowd = try transport.subscribe(to: "forwarding.crowd.bank", group: nil) { message in
      for host in 0..<64 {
        let more = [UInt8](repeating: 0, count: host == 0 ? extra : 0)
        message.answer?(
          Envelope.answer(
            Envelope.answered, host: UInt64(host), to: message.payload, body + more))
      }
    }
    defer { crowd.end() }
    let remote = RemoteProxy(try Vault.interface(), transport, at: "crowd")
    let sums = try await remote.gather(within: .seconds(10)) { try await Vault.deposit(1, on: $0) }
    #expect(sums.answers.count == 64 - extra)
    #expect(remote.statistics.strange == extra)
  }
}
