#if NATS
  import Forwarding
  import ForwardingRemote
  import ForwardingWire
  import RemoteTestSupport
  import Testing

  @testable import ForwardingNATS

  @Suite(
    "Names in journals that a server keeps", .serialized, .timeLimit(.minutes(10)),
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

    @Test("what goes to a host of any name is not in a journal")
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

    @Test("a name that is drawn, and that the server has already, is an error and no success")
    func drawn() throws {
      #expect(try journal.append(call(1), id: "a") == 1)
      #expect(throws: StreamError.self) { try journal.append(call(2), as: "a", isDrawn: true) }
      // Who gives a name may add it again.
      #expect(try journal.append(call(1), id: "a") == 1)
      #expect(try journal.bounds() == 1...1)
      journal.close()
    }

    @Test("drawn names have nothing in common that another could know")
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
