// SPDX-License-Identifier: Apache-2.0
import Distributed
import ForwardingActors
import ForwardingRemote
import Testing

@Suite("Nodes that close", .timeLimit(.minutes(10)))
struct ActorClosingTests {
  @Test("a call in transit when its node closes is refused as draining, and not performed")
  func late() async throws {
    let transport = LateTransport()
    let there = try MessagingActorSystem(transport, as: "clerks")
    let clerk = try there.named("clerk") { Clerk(actorSystem: $0) }
    let here = try MessagingActorSystem(transport, as: "visitors", deadline: .seconds(300))
    let remote = try Clerk.resolve(id: .init("clerk", at: "clerks"), using: here)
    #expect(try await remote.add(1) == 1)
    there.close()
    await #expect(throws: RemoteError.refused(.draining, "")) { try await remote.add(1) }
    #expect(try await clerk.total == 1)
    here.close()
  }

  /// A transport within this process on which a message arrives just when its subscription ends.
  private final class LateTransport: Transport {
    private let inner = InProcessTransport()

    private final class Subscription: TransportSubscription {
      func end() {}
    }

    var maximumPayload: Int { inner.maximumPayload }

    func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
      try inner.publish(payload, to: subject)
    }

    func request(
      _ payload: [UInt8], to subject: RemoteSubject,
      _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
    ) throws(TransportError) -> any TransportRequest {
      try inner.request(payload, to: subject, answered)
    }

    func subscribe(
      to subject: RemoteSubject, group: String?,
      _ receive: @escaping @Sendable (TransportMessage) -> Void
    ) throws(TransportError) -> any TransportSubscription {
      _ = try inner.subscribe(to: subject, group: group, receive)
      return Subscription()
    }

    func flush(within limit: Duration) async throws(TransportError) {}

    func onChange(
      _ changed: @escaping @Sendable (TransportState) -> Void
    ) -> any TransportSubscription {
      inner.onChange(changed)
    }

    func close() { inner.close() }
  }
}
