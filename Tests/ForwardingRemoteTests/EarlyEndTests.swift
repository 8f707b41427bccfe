// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingWire
import Invocations
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

import Glibc

@Suite("Deadlines of calls that end early", .timeLimit(.minutes(60)))
struct EarlyEndTests {
  /// The ways in which a call ends before its deadline.
  enum Ending: String, CaseIterable, CustomTestStringConvertible, Codable {
    case answered, thrown, refused, unreachable, cancelled, closed, interrupted

    var testDescription: String { rawValue }

    /// Makes calls that end in this way, with a deadline that is far away.
    func call() async throws {
      let path = socketPath()
      let there = try UnixSocketTransport(listeningAt: path)
      let here = try UnixSocketTransport(connectedTo: path)
      let host = RemoteHost(there, as: "bank")
      let vault = Vault()
      try host.expose(vault, Vault.interface())
      func remote(_ name: String = "bank") throws -> RemoteProxy {
        RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(3600))
      }
      let proxy = try remote()
      if self == .refused { host.limit = 0 }
      switch self {
      case .answered: for _ in 0..<100 { _ = try await Vault.deposit(1, on: proxy) }
      case .thrown, .refused: for _ in 0..<100 { try? await Vault.fail(true, on: proxy) }
      case .unreachable:
        for _ in 0..<100 { _ = try? await Vault.deposit(1, on: remote("nobody")) }
      case .cancelled, .closed, .interrupted:
        let calls = (0..<100).map { _ in Task { try await Vault.sleep(3_600_000, on: proxy) } }
        while host.statistics.asked < 100 { try await Task.sleep(for: .milliseconds(1)) }
        switch self {
        case .closed: here.close()
        case .interrupted: there.close()
        default: for call in calls { call.cancel() }
        }
        for call in calls { _ = await call.result }
        while vault.cancellations.load(ordering: .relaxed) < 100 {
          try await Task.sleep(for: .milliseconds(1))
        }
      }
      host.close()
    }
  }

  @Test("the timer of a call that has ended does not remain", arguments: Ending.allCases)
  func ended(ending: Ending) async {
    await #expect(processExitsWith: .success) { [ending] in
      try await ending.call()
      for _ in 0..<6000 where Deadlines.shared.count > 0 {
        try await Task.sleep(for: .milliseconds(10))
      }
      exit(Deadlines.shared.count > 0 ? 2 : 0)
    }
  }
}
