// SPDX-License-Identifier: Apache-2.0
import Forwarding
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

/// Calls that end between two attempts to send them, or before the first one.
@Suite("Calls that are not sent", .timeLimit(.minutes(10)))
struct UnsentCallTests {
  @Test("a deadline or a cancellation that comes before a call is sent again is not lost")
  func kept() {
    let unsent = OneShot.Outcome.failure(.notCarried(.unsent))
    for error in [RemoteError.timedOut, .cancelled] {
      let call = OneShot()
      call.finish(unsent)
      call.finish(.failure(error))
      // Only the first one counts.
      call.finish(.failure(.closed))
      #expect(call.isUnsent)
      call.reopen()
      #expect(throws: error) { try call.outcome?.get() }
      call.reopen()
      #expect(throws: error) { try call.outcome?.get() }
    }
    let call = OneShot()
    call.finish(unsent)
    call.reopen()
    #expect(call.outcome == nil)
    call.finish(unsent)
    #expect(call.isUnsent)
  }

  @Test(
    "a call whose deadline has passed before it begins is not sent", arguments: Way.allCases,
    [0, -5])
  func late(way: Way, seconds: Int) async throws {
    let (there, here) = try way.ends()
    // The cases run at the same time, on one server.
    let name = "late\(-seconds)"
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(seconds))
    for _ in 0..<20 {
      await #expect(throws: RemoteError.timedOut) { try await Vault.deposit(1, on: remote) }
    }
    remote.deadline = .seconds(300)
    #expect(try await Vault.deposit(7, on: remote) == 7)
    #expect(host.statistics.asked == 1)
    #expect(remote.statistics == RemoteStatistics(asked: 21, answered: 1, failed: 20))
  }

  @Test("a call that is cancelled while an attempt to send it fails is not sent again")
  func cancelled() async throws {
    let transport = Refusing { withUnsafeCurrentTask { $0?.cancel() } }
    let remote = RemoteProxy(try Vault.interface(), transport, at: "cancelled")
    let call = Task { try await Vault.deposit(1, on: remote) }
    await #expect(throws: RemoteError.cancelled) { try await call.value }
    let attempts = transport.attempts.load(ordering: .relaxed)
    #expect(attempts == 1)
  }

  /// A transport whose first request is not sent. It has no other ones.
  private final class Refusing: Transport {
    let maximumPayload = 1000
    let attempts = Atomic(0)
    private let meanwhile: @Sendable () -> Void
    private let other = InProcessTransport()

    init(meanwhile: @escaping @Sendable () -> Void) { self.meanwhile = meanwhile }

    func request(
      _ payload: [UInt8], to subject: RemoteSubject,
      _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
    ) throws(TransportError) -> any TransportRequest {
      if attempts.wrappingAdd(1, ordering: .relaxed).newValue == 1 {
        answered(.failure(.unsent))
        meanwhile()
      }
      return try other.request(payload, to: subject) { _ in }
    }

    func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {}

    func subscribe(
      to subject: RemoteSubject, group: String?,
      _ receive: @escaping @Sendable (TransportMessage) -> Void
    ) throws(TransportError) -> any TransportSubscription {
      try other.subscribe(to: subject, group: group, receive)
    }

    func flush(within limit: Duration) async throws(TransportError) {}

    func onChange(
      _ changed: @escaping @Sendable (TransportState) -> Void
    ) -> any TransportSubscription {
      other.onChange(changed)
    }

    func close() { other.close() }
  }
}
