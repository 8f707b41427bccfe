// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Distributed
  import ForwardingActors
  import ForwardingNATS
  import ForwardingRemote
  import RemoteTestSupport
  import Synchronization
  import Testing

  @Suite(
    "Permissions of nodes on a NATS server", .timeLimit(.minutes(10)),
    .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
  struct NATSActorPermissionTests {
    private func node(_ server: NATSServer, _ name: String, as user: String? = nil) throws
      -> (MessagingActorSystem, NATSTransport)
    {
      let transport = try NATSTransport(server.options(user ?? name))
      return (
        try MessagingActorSystem(transport, as: name, deadline: .seconds(300)), transport
      )
    }

    @Test(
      "with the configuration of the documentation, a node can be called, and cannot call others")
    func allowed() async throws {
      let folder = try TemporaryFolder()
      let server = try NATSServer.documented(in: folder)
      let (there, host) = try node(server, "desk-1")
      let (here, sender) = try node(server, "desk-2")
      let notes = Notes()
      let clerk = try there.named("clerk") { Clerk(actorSystem: $0, notes: notes) }
      let remote = try Clerk.resolve(id: .init("clerk", at: "desk-1"), using: here)
      #expect(try await remote.add(7) == 7)
      // Cancels are permitted as well.
      let waiting = Task { try await remote.sleep(600_000) }
      while notes.begun.load(ordering: .relaxed) == 0 {
        try await Task.sleep(for: .milliseconds(1))
      }
      waiting.cancel()
      while notes.cancelled.load(ordering: .relaxed) == 0 {
        try await Task.sleep(for: .milliseconds(1))
      }
      #expect(host.lastDenial == nil && sender.lastDenial == nil)
      let back = try Clerk.resolve(id: .init("clerk", at: "desk-2"), using: there)
      let error = await #expect(throws: RemoteError.self) { try await back.add(7) }
      guard case .notCarried(.denied) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      // A process cannot be a node for which it has no permission.
      let other = #expect(throws: TransportError.self) {
        try node(server, "desk-1", as: "desk-2")
      }
      guard case .denied = other else {
        Issue.record("\(String(describing: other))")
        return
      }
      withExtendedLifetime(clerk) {}
      here.close()
      there.close()
    }
  }
#endif
