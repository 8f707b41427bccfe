// SPDX-License-Identifier: Apache-2.0
import Distributed
import ForwardingActors
import ForwardingRemote
import RemoteTestSupport
import Synchronization
import Testing

@Suite("Calls of distributed actors on other nodes", .timeLimit(.minutes(10)))
struct ActorCallTests {
  @Test(
    "methods with and without results, properties, and private methods", arguments: Way.allCases)
  func called(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let (clerk, there) = try nodes.clerk()
    #expect(try await there.greet("Ann é") == "Hello, Ann é!")
    #expect(try await there.add(5) == 5)
    #expect(try await there.total == 5)
    try await there.clear()
    #expect(try await there.total == 0)
    let form = Clerk.Form(name: "Ann", ages: [1, 2], next: [.init(name: "Bob", ages: [])])
    let older = try await there.older(form, by: 3)
    #expect(older == Clerk.Form(name: "Ann", ages: [4, 5], next: form.next))
    #expect(try await there.added(1, 2) == 3)
    #expect(try await clerk.hear(there) == "psst")
    #expect(nodes.here.outgoing.answered == 8)
    #expect(nodes.there.incoming.answered == 8)
  }

  @Test(
    "a RemoteFailure of a method is sent as a code and a text, and other errors are not sent",
    arguments: Way.allCases)
  func thrown(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let (clerk, there) = try nodes.clerk()
    await #expect(throws: RemoteError.failed(code: 28, text: "no room")) {
      try await there.fail(true)
    }
    await #expect(throws: RemoteError.failed(code: 0, text: "")) { try await there.fail(false) }
    #expect(nodes.there.incoming.failed == 2)
    let error = await #expect(throws: (any Error).self) { try await there.fail(true) }
    #expect(error is any DistributedActorSystemError)
    withExtendedLifetime(clerk) {}
  }

  @Test("an actor of the same node is called without a message, and resolved by its ID")
  func local() async throws {
    let nodes = try Nodes(.inProcess)
    defer { nodes.close() }
    let (clerk, _) = try nodes.clerk()
    let same = try Clerk.resolve(id: clerk.id, using: nodes.there)
    #expect(same === clerk)
    #expect(try await same.add(1) == 1)
    #expect(nodes.there.outgoing.asked == 0)
    #expect(nodes.there.incoming.asked == 0)
  }

  @Test("an actor of another node is resolved without a message", arguments: Way.allCases)
  func resolved(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let name = "nobody \(UInt32.random(in: 0 ... .max))"
    let received = Atomic(0)
    let subject = RemoteSubject(parts: "forwarding-actors", name)
    let listener = try nodes.transports.0.subscribe(to: subject, group: nil) { _ in
      received.add(1, ordering: .relaxed)
    }
    try await nodes.transports.0.flush(within: .seconds(300))
    let there = try Clerk.resolve(id: .init("clerk", at: name), using: nodes.here)
    // Sent after it, as a transport preserves the order.
    try nodes.transports.1.publish([], to: subject)
    while received.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(1)) }
    let count = received.load(ordering: .relaxed)
    #expect(count == 1)
    #expect(nodes.here.outgoing.asked == 0)
    listener.end()
    try await nodes.transports.0.flush(within: .seconds(300))
    #expect(await isUnheard { try await there.add(1) })
  }

  @Test(
    "a call of an actor that does not exist, or no longer exists, is refused by its node",
    arguments: Way.allCases)
  func gone(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let unknown = try Clerk.resolve(id: .init("nobody", at: nodes.there.node), using: nodes.here)
    await #expect(throws: RemoteError.refused(.targetGone, "")) { try await unknown.add(1) }
    func callOnce() async throws -> Clerk {
      let (clerk, there) = try nodes.clerk()
      #expect(try await there.add(1) == 1)
      withExtendedLifetime(clerk) {}
      return there
    }
    let there = try await callOnce()
    await #expect(throws: RemoteError.refused(.targetGone, "")) { try await there.add(1) }
    // The name is free again.
    let (next, _) = try nodes.clerk()
    #expect(try await there.add(7) == 7)
    withExtendedLifetime(next) {}
  }

  @Test(
    "a cancelled caller does not wait, and its method is cancelled", arguments: Way.allCases
  )
  func cancelled(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let notes = Notes()
    let (clerk, there) = try nodes.clerk("clerk", notes)
    let call = Task { try await there.sleep(600_000) }
    while notes.begun.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(1)) }
    call.cancel()
    await #expect(throws: RemoteError.cancelled) { try await call.value }
    while notes.cancelled.load(ordering: .relaxed) == 0 {
      try await Task.sleep(for: .milliseconds(1))
    }
    withExtendedLifetime(clerk) {}
  }

  @Test("a call ends at its deadline, on both nodes", arguments: Way.allCases)
  func late(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let (clerk, there) = try nodes.clerk()
    nodes.here.deadline = .milliseconds(50)
    await #expect(throws: RemoteError.timedOut) { try await there.sleep(600_000) }
    nodes.here.deadline = .seconds(300)
    // An error that the method throws after the deadline is not sent as its answer.
    while nodes.there.incoming.refused == 0 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(nodes.there.incoming.failed == 0)
    #expect(try await there.add(1) == 1)
    withExtendedLifetime(clerk) {}
  }

  @Test(
    "calls beyond the limits of the node or of the caller are refused", arguments: Way.allCases
  )
  func busy(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let notes = Notes()
    let (clerk, there) = try nodes.clerk("clerk", notes)
    nodes.there.limit = 2
    let calls = (0..<2).map { _ in Task { try await there.sleep(600_000) } }
    while notes.begun.load(ordering: .relaxed) < 2 { try await Task.sleep(for: .milliseconds(1)) }
    await #expect(throws: RemoteError.refused(.busy, "")) { try await there.add(1) }
    nodes.here.inFlightLimit = 2
    await #expect(throws: RemoteError.congested(limit: 2)) { try await there.add(1) }
    for call in calls { call.cancel() }
    for call in calls { _ = await call.result }
    while nodes.there.incoming.failed < 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try await there.add(1) == 1)
    withExtendedLifetime(clerk) {}
  }

  @Test("a node decides about each caller and method", arguments: Way.allCases)
  func authorized(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let (clerk, there) = try nodes.clerk()
    nodes.there.authorize = { [node = nodes.there.node] caller in
      caller.node == node && caller.actor == "clerk"
        && !caller.target.description.hasSuffix("Clerk.clear()")
    }
    #expect(try await there.add(3) == 3)
    await #expect(throws: RemoteError.refused(.unauthorized, "")) { try await there.clear() }
    #expect(try await there.total == 3)
    withExtendedLifetime(clerk) {}
  }

  @Test(
    "an actor that is an argument or a result is passed as a reference to itself",
    arguments: Way.allCases)
  func references(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let (clerk, there) = try nodes.clerk()
    let own = try nodes.here.named("own") { Clerk(actorSystem: $0) }
    // The other node calls back.
    #expect(try await there.introduce("Ann", to: own) == "Hello, Ann of clerk!")
    #expect(nodes.there.outgoing.answered == 1)
    // A reference to an actor of the called node is resolved to that actor.
    #expect(try await there.introduce("Ann", to: there) == "Hello, Ann of clerk!")
    #expect(nodes.there.outgoing.answered == 1)
    let same = try await there.oneself()
    #expect(same.id == clerk.id)
    #expect(try await same.add(2) == 2)
  }

  @Test("a draining node finishes calls in progress, and refuses new ones", arguments: Way.allCases)
  func draining(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let notes = Notes()
    let (clerk, there) = try nodes.clerk("clerk", notes)
    let call = Task { try await there.sleep(600_000) }
    while notes.begun.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(1)) }
    async let drained: Void = nodes.there.drain(within: .seconds(300))
    var refused: RemoteError?
    while refused == nil {
      do { _ = try await there.add(1) } catch let error as RemoteError { refused = error }
    }
    #expect(refused == .refused(.draining, ""))
    call.cancel()
    _ = await call.result
    try await drained
    #expect(await isUnheard { try await there.add(1) })
    withExtendedLifetime(clerk) {}
  }

  @Test("a name belongs to one actor at a time, and only to one that the closure makes")
  func names() async throws {
    let nodes = try Nodes(.inProcess)
    defer { nodes.close() }
    let (clerk, _) = try nodes.clerk()
    #expect(clerk.id == .init("clerk", at: nodes.there.node))
    #expect(throws: ActorError.nameTaken("clerk")) { try nodes.clerk() }
    #expect(throws: ActorError.notMade("other")) { try nodes.there.named("other") { _ in clerk } }
    #expect(throws: ActorError.badName("")) { try nodes.clerk("") }
    let (free, _) = try nodes.clerk("other")
    let drawn = [Clerk(actorSystem: nodes.there), Clerk(actorSystem: nodes.there)]
    #expect(Set(drawn.map(\.id)).count == 2)
    #expect(throws: ActorError.otherType(free.id)) {
      try Clerks.resolve(id: free.id, using: nodes.there)
    }
    let gone = MessagingActorSystem.ActorID("gone", at: nodes.there.node)
    #expect(throws: ActorError.noActor(gone)) { try Clerk.resolve(id: gone, using: nodes.there) }
    withExtendedLifetime(clerk) {}
  }

  @Test(
    "a method of a protocol can be called through a stub if the node allows the stub",
    arguments: Way.allCases)
  func stubs(way: Way) async throws {
    let nodes = try Nodes(way)
    defer { nodes.close() }
    let polite = try nodes.there.named("polite") { Polite(actorSystem: $0) }
    let (clerk, _) = try nodes.clerk()
    func stub(_ name: String) throws -> $Greeting {
      try $Greeting.resolve(id: .init(name, at: nodes.there.node), using: nodes.here)
    }
    await #expect(throws: RemoteError.refused(.unknownMessage, "")) {
      try await stub("polite").greeting("Ann")
    }
    nodes.there.allow($Greeting.self)
    #expect(try await stub("polite").greeting("Ann") == "Good evening, Ann.")
    // This actor does not conform to the protocol.
    await #expect(throws: RemoteError.refused(.unknownMessage, "")) {
      try await stub("clerk").greeting("Ann")
    }
    withExtendedLifetime((polite, clerk)) {}
  }
}
