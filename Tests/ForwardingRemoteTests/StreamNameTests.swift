// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Forwarding
  import ForwardingRemote
  import ForwardingWire
  import RemoteTestSupport
  import Testing

  @testable import ForwardingNATS

  @Suite(
    "Names in journals on a server", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
  struct StreamNameTests {
    private let folder: TemporaryFolder
    private let server: NATSServer
    private let journal: StreamJournal

    init() throws {
      folder = try TemporaryFolder()
      server = try NATSServer(["-js", "-sd", folder.path])
      var options = StreamOptions()
      options.deadline = .seconds(120)
      journal = try StreamJournal(
        server.options(), stream: "bank", Tally.interface(), options)
    }

    private func call(_ number: Int) throws -> Invocation {
      try Tally.take.message.invocation(number)
    }

    @Test("a message to a host of any name does not get into a journal")
    func hosts() async throws {
      let stranger = try server.connect()
      let hosts: [RemoteSubject] = [
        RemoteSubject(parts: "forwarding", "journal", "bank"),
        RemoteSubject(parts: "forwarding", "forwarding-journal", "bank"),
        RemoteSubject(parts: "forwarding-actors", "bank"),
      ]
      for subject in hosts { try stranger.publish([1], to: subject) }
      try await stranger.flush(within: .seconds(300))
      #expect(try journal.append(call(1)) == 1)
      journal.close()
    }

    @Test("a random name that the server already has is an error")
    func drawn() throws {
      #expect(try journal.append(call(1), id: "a") == 1)
      #expect(throws: StreamError.self) { try journal.append(call(2), as: "a", isDrawn: true) }
      // A name that the caller gives may be appended again.
      #expect(try journal.append(call(1), id: "a") == 1)
      #expect(try journal.bounds() == 1...1)
      journal.close()
    }

    @Test("random names have no common part that others could guess")
    func random() throws {
      for number in 0..<3 { try journal.append(call(number)) }
      let other = try StreamJournal(
        server.options(), stream: "bank", Interface("other"), StreamOptions())
      var names: [String] = []
      var options = StreamReplayOptions()
      options.migrate = { record, _ in
        names.append(record.id ?? "")
        return nil
      }
      try other.reader().replay(into: Tally(), options)
      #expect(names.count == 3)
      #expect(Set(names.map { $0.prefix(8) }).count == 3)
      journal.close()
      other.close()
    }
  }
#endif
