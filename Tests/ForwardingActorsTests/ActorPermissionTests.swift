// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Distributed
import ForwardingActors
import ForwardingRemote
import RemoteTestSupport
import Testing

@Suite("Refusals of callers without permission to call actors", .timeLimit(.minutes(10)))
struct ActorPermissionTests {
  @Test(
    "a caller without permission gets the same refusal whether or not an actor exists",
    arguments: Way.allCases)
  func silent(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let (clerk, _) = try nodes.clerk()
    let add = try await nodes.method { _ = try await Clerk.resolve(id: $0, using: $1).add(1) }
    let clock = try await nodes.method { _ = try await Clock.resolve(id: $0, using: $1).add(1) }
    let calls = [
      RawCall(method: add, arguments: ["1"]), RawCall(method: add, arguments: []),
      RawCall(method: clock, arguments: ["1"]), RawCall(method: add + "x", arguments: ["1"]),
      RawCall(actor: "nobody", method: add, arguments: ["1"]), RawCall(method: "", arguments: []),
      RawCall(method: add, arguments: ["no number"]),
    ]
    // A caller with permission gets the reason.
    let known: [RemoteRefusal?] = [
      nil, .signatureMismatch, .unknownMessage, .unknownMessage, .targetGone, .unknownMessage,
      .malformed,
    ]
    for (call, refusal) in zip(calls, known) {
      #expect(try await nodes.answer(to: call).refusal == refusal)
    }
    nodes.there.authorize = { _ in true }
    for (call, refusal) in zip(calls, known) {
      #expect(try await nodes.answer(to: call).refusal == refusal)
    }
    nodes.there.authorize = { _ in false }
    let first = try await nodes.answer(to: calls[0])
    #expect(first.refusal == .unauthorized && first.body.isEmpty)
    for call in calls { #expect(try await nodes.answer(to: call) == first) }
    withExtendedLifetime(clerk) {}
  }

  @Test("`authorize` does not get the name of a method that the process does not have")
  func names() async throws {
    let nodes = try Nodes(.inProcess)
    defer { nodes.close() }
    let (clerk, _) = try nodes.clerk()
    let add = try await nodes.method { _ = try await Clerk.resolve(id: $0, using: $1).add(1) }
    let seen = LockedValue<[String]>([])
    nodes.there.authorize = { caller in
      seen.withLock { $0.append("\(caller.actor) \(caller.isArgument) \(caller.target)") }
      return true
    }
    for method in [add, add + "FTE", "$s4evil"] {
      _ = try await nodes.answer(to: RawCall(actor: "boss", method: method, arguments: ["1"]))
    }
    let names = seen.withLock { $0 }
    try #require(names.count == 3)
    #expect(names[0].hasPrefix("boss false ") && names[0].hasSuffix("Clerk.add(_:)"))
    #expect(names[1] == names[2] && !names[1].contains("evil"))
    withExtendedLifetime(clerk) {}
  }

  @Test("an actor of the node can be an argument only if the caller may pass it on")
  func arguments() async throws {
    let nodes = try Nodes(.inProcess)
    defer { nodes.close() }
    let (clerk, there) = try nodes.clerk()
    let (boss, bossThere) = try nodes.clerk("boss")
    let nobody = try Clerk.resolve(id: .init("nobody", at: nodes.there.node), using: nodes.here)
    let own = try nodes.here.named("own") { Clerk(actorSystem: $0) }
    let asked = LockedValue<[String]>([])
    nodes.there.authorize = { caller in
      asked.withLock { $0.append("\(caller.actor) \(caller.isArgument)") }
      return caller.actor == "clerk"
    }
    // A reference to the called actor is also checked. References to actors of other nodes are not,
    // as those nodes decide about their calls.
    #expect(try await there.introduce("Ann", to: there) == "Hello, Ann of clerk!")
    #expect(try await there.introduce("Ann", to: own) == "Hello, Ann of clerk!")
    for other in [bossThere, nobody] {
      await #expect(throws: RemoteError.refused(.unauthorized, "")) {
        try await there.introduce("Ann", to: other)
      }
    }
    #expect(
      asked.withLock { $0 } == [
        "clerk false", "clerk true", "clerk false", "clerk false", "boss true", "clerk false",
        "nobody true",
      ])
    nodes.there.authorize = { caller in caller.actor == "clerk" || caller.isArgument }
    #expect(try await there.introduce("Ann", to: bossThere) == "Hello, Ann of clerk!")
    await #expect(throws: RemoteError.refused(.unauthorized, "")) { try await bossThere.add(1) }
    withExtendedLifetime((clerk, boss)) {}
  }

  /// Records its subscriptions and flushes.
  private final class NotedTransport: Transport {
    let notes = LockedValue<[String]>([])
    private let inner = InProcessTransport()
    var maximumPayload: Int { inner.maximumPayload }

    private func note(_ text: String) { notes.withLock { $0.append(text) } }

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
      note("subscribe")
      return Ending(try inner.subscribe(to: subject, group: group, receive), self)
    }
    func flush(within limit: Duration) async throws(TransportError) { note("flush") }
    func onChange(
      _ changed: @escaping @Sendable (TransportState) -> Void
    ) -> any TransportSubscription { inner.onChange(changed) }
    func close() { inner.close() }

    private final class Ending: TransportSubscription {
      let inner: any TransportSubscription
      let transport: NotedTransport
      init(_ inner: any TransportSubscription, _ transport: NotedTransport) {
        (self.inner, self.transport) = (inner, transport)
      }
      func end() {
        transport.note("end")
        inner.end()
      }
    }
  }

  @Test(
    "a node that has drained flushes after its subscriptions have ended, so it is known to be gone")
  func drained() async throws {
    let transport = NotedTransport()
    let node = try MessagingActorSystem(transport, as: "node")
    try await node.drain()
    // A node subscribes to calls and to cancels.
    #expect(transport.notes.withLock { $0 } == ["subscribe", "subscribe", "end", "end", "flush"])
  }
}
