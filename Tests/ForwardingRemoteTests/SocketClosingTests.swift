// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

import Glibc

@Suite("A socket transport that is closed meanwhile", .timeLimit(.minutes(60)))
struct SocketClosingTests {
  private let path = socketPath()

  /// Makes requests on two threads until one fails at once, and notes how they end.
  private final class Asking: Sendable {
    /// A request, and the last error that it got.
    private final class Question: Sendable {
      let error = LockedValue<TransportError?>(nil)
      let request = LockedValue<(any TransportSubscription)?>(nil)
    }

    private let questions = LockedValue<[Question]>([])
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
      let question = Question()
      questions.withLock { $0.append(question) }
      do throws(TransportError) {
        let request = try transport.request([1], to: "question") { answer in
          if case .failure(let error) = answer { question.error.withLock { $0 = error } }
        }
        question.request.withLock { $0 = request }
        return true
      } catch {
        question.error.withLock { $0 = error }
        return error == .congested
      }
    }

    var begun: Int { questions.withLock { $0.count } }

    /// Whether both threads have ended.
    var isOver: Bool { running.load(ordering: .acquiring) == 0 }

    /// How the requests ended; nil for those that did not.
    var ends: Set<TransportError?> {
      Set(questions.withLock { $0 }.map { $0.error.withLock { $0 } })
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
      #expect(requests.ends.isSubset(of: [.closed, .congested]), "round \(round)")
      listener.end()
      other.close()
    }
  }
}
