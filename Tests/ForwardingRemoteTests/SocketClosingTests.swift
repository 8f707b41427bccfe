// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

#if canImport(Glibc)
  import Glibc
#endif

@Suite("A socket transport that is closed meanwhile", .timeLimit(.minutes(10)))
struct SocketClosingTests {
  private let path = socketPath()

  /// Makes requests on two threads until one fails at once, and counts how they end.
  private final class Asking: Sendable {
    private let counts = LockedValue((begun: 0, ends: [TransportError: Int]()))
    private let requests = LockedValue<[any TransportRequest]>([])
    private let running = Atomic(2)

    init(_ transport: UnixSocketTransport) {
      for _ in 0..<2 {
        Thread.detachNewThread { [self] in
          while ask(transport) {}
          running.subtract(1, ordering: .releasing)
        }
      }
    }

    private func ask(_ transport: UnixSocketTransport) -> Bool {
      do throws(TransportError) {
        let request = try transport.request([1], to: "question") { [self] answer in
          if case .failure(let error) = answer { note(error) }
        }
        requests.withLock { $0.append(request) }
        counts.withLock { $0.begun += 1 }
        return true
      } catch {
        counts.withLock { $0.begun += 1 }
        note(error)
        return error == .congested
      }
    }

    private func note(_ error: TransportError) {
      counts.withLock { $0.ends[error, default: 0] += 1 }
    }

    var begun: Int { counts.withLock { $0.begun } }

    /// Whether both threads have ended.
    var isOver: Bool { running.load(ordering: .acquiring) == 0 }

    /// How many requests did not end, and how the others did.
    var ended: (open: Int, ends: [TransportError: Int]) {
      let counts = counts.withLock { $0 }
      return (counts.begun - counts.ends.values.reduce(0, +), counts.ends)
    }
  }

  @Test("each request that begins meanwhile ends as closed", arguments: [true, false])
  func requests(listenerAsks: Bool) async throws {
    for round in 0..<200 {
      let server = try UnixSocketTransport(listeningAt: path)
      let client = try UnixSocketTransport(connectedTo: path)
      while server.connectionCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
      let (asking, other) = listenerAsks ? (server, client) : (client, server)
      // It never answers.
      let listener = try other.subscribe(to: "question", group: nil) { _ in }
      let requests = Asking(asking)
      while requests.begun < 20 { try await Task.sleep(for: .milliseconds(1)) }
      asking.close()
      while !requests.isOver { try await Task.sleep(for: .milliseconds(1)) }
      let (open, ends) = requests.ended
      #expect(open == 0, "round \(round): \(ends)")
      #expect(Set(ends.keys).isSubset(of: [.closed, .congested]), "round \(round): \(ends)")
      listener.end()
      other.close()
    }
  }
}
