// SPDX-License-Identifier: Apache-2.0
import Distributed
import ForwardingActors
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Testing

/// The rows of "Limits" in Documentation/Wire.md for actors.
@Suite("Limits of encoded calls of distributed actors", .timeLimit(.minutes(10)))
struct ActorLimitTests {
  @Test("names have at most 255 bytes, methods 16,384, and calls 64 arguments")
  func limits() async throws {
    let nodes = try Nodes(.inProcess)
    defer { nodes.close() }
    let name = String(repeating: "n", count: 255)
    let (clerk, there) = try nodes.clerk(name)
    #expect(try await there.add(1) == 1)
    #expect(throws: ActorError.badName(name + "n")) { try nodes.clerk(name + "n") }
    let add = try await nodes.method { _ = try await Clerk.resolve(id: $0, using: $1).add(1) }
    let longer = try Clerk.resolve(id: .init(name + "n", at: nodes.there.node), using: nodes.here)
    let error = WireError(.limit(255, given: 256), at: 2)
    await #expect(throws: RemoteError.wire(error)) { try await longer.add(1) }
    // Encoded by hand. Names at the limit are looked up.
    for (actor, method, arguments, refusal) in [
      (name, add, 1, nil), (name + "n", add, 1, .malformed),
      (name, String(repeating: "m", count: 16_384), 1, .unknownMessage),
      (name, String(repeating: "m", count: 16_385), 1, .malformed),
      (name, add, 64, .signatureMismatch), (name, add, 65, .malformed),
    ] as [(String, String, Int, RemoteRefusal?)] {
      let call = RawCall(
        actor: actor, method: method, arguments: Array(repeating: "1", count: arguments))
      let answer = try await nodes.answer(to: call)
      #expect(answer.refusal == refusal, "\(actor.count) \(method.utf8.count) \(arguments)")
    }
    #expect(try await there.add(1) == 3)
    withExtendedLifetime(clerk) {}
  }

  @Test("more than 64 arguments are refused before anything is sent")
  func arguments() throws {
    let nodes = try Nodes(.inProcess)
    defer { nodes.close() }
    var encoder = nodes.here.makeInvocationEncoder()
    for number in 0..<64 {
      try encoder.recordArgument(RemoteCallArgument(label: nil, name: "n", value: number))
    }
    #expect(throws: ActorError.arguments(limit: 64)) {
      try encoder.recordArgument(RemoteCallArgument(label: nil, name: "n", value: 64))
    }
  }

  @Test("a call of an actor has at most 1 MB: both sides refuse more")
  func message() async throws {
    let transport = InProcessTransport(maximumPayload: 8 << 20)
    var wide = WireLimits()
    wide.message = 4 << 20
    wide.text = 4 << 20
    let there = try MessagingActorSystem(transport, as: "there", deadline: .seconds(300))
    let fair = try MessagingActorSystem(transport, as: "fair", deadline: .seconds(300))
    let greedy = try MessagingActorSystem(
      transport, as: "greedy", limits: wide, deadline: .seconds(300))
    let clerk = try there.named("clerk") { Clerk(actorSystem: $0) }
    func remote(_ node: MessagingActorSystem) throws -> Clerk {
      try Clerk.resolve(id: .init("clerk", at: "there"), using: node)
    }
    func length(_ node: MessagingActorSystem, _ count: Int) async throws -> Int {
      try await remote(node).length(String(repeating: "x", count: count))
    }
    // The header, both names, the length of the text, and its quotes.
    let most = (1 << 20) - 8 - "clerk".utf8.count - (try await method()).utf8.count - 4 - 2
    #expect(try await length(fair, most) == most)
    #expect(try await length(greedy, most) == most)
    let error = await #expect(throws: RemoteError.self) { try await length(fair, most + 1) }
    guard case .wire(let wire) = error, case .limit(1 << 20, _) = wire.reason else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try await refusal { _ = try await length(greedy, most + 1) } == .malformed)
    #expect(try await remote(fair).add(1) == 1)
    withExtendedLifetime(clerk) {}
  }

  private func refusal(_ call: () async throws -> Void) async throws -> RemoteRefusal? {
    do { try await call() } catch RemoteError.refused(let refusal, _) { return refusal }
    return nil
  }

  private func method() async throws -> String {
    let nodes = try Nodes(.inProcess)
    defer { nodes.close() }
    return try await nodes.method { _ = try await Clerk.resolve(id: $0, using: $1).length("") }
  }
}
