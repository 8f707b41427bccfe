// SPDX-License-Identifier: Apache-2.0
#if NATS
  import ForwardingTestSupport
  import Forwarding
  import ForwardingNATS
  import ForwardingRemote
  import ForwardingWire
  import Foundation
  import Synchronization
  import RemoteTestSupport
  import Testing

  @Suite(
    "Journals on a server", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
  struct StreamJournalTests {
    private let folder: TemporaryFolder
    private let server: NATSServer

    init() throws {
      folder = try TemporaryFolder()
      server = try NATSServer(["-js", "-sd", folder.path])
    }

    private func journal(
      _ interface: Interface? = nil, _ options: StreamOptions? = nil, named name: String = "bank"
    ) throws -> StreamJournal {
      // Other tests may keep the machine busy for long.
      var usual = StreamOptions()
      usual.deadline = .seconds(120)
      return try StreamJournal(
        server.options(), stream: name, interface ?? Tally.interface(),
        options ?? usual)
    }

    private func call(_ number: Int) throws -> Invocation {
      try Tally.take.message.invocation(number)
    }

    @Test("10,000 calls are replayed in order after the server was killed and restarted")
    func all() throws {
      let journal = try journal()
      let added = Atomic(0)
      let isOver = Atomic(false)
      let server = server
      // While calls are being appended.
      Thread.detachNewThread {
        for least in [2000, 5000, 8000] {
          while added.load(ordering: .relaxed) < least { usleep(100) }
          server.kill()
          try? server.start()
        }
        isOver.store(true, ordering: .releasing)
      }
      for number in 0..<10_000 {
        let sequence = try journal.append(call(number))
        try #require(sequence == UInt64(number + 1))
        added.store(number, ordering: .relaxed)
      }
      while !isOver.load(ordering: .acquiring) { usleep(1000) }
      server.kill()
      try server.start()
      let other = try self.journal()
      #expect(try other.bounds() == 1...10_000)
      let tally = Tally(keepsOrder: true)
      let reader = other.reader()
      let summary = try reader.replay(into: tally)
      #expect(tally.inOrder == Array(0..<10_000))
      #expect(summary.made == 10_000 && summary.threw == 0 && summary.duplicates == 0)
      #expect(reader.next == 10_001)
      // No record is left until one is appended.
      #expect(try reader.replay(into: tally).made == 0)
      try journal.append(call(10_000))
      #expect(try reader.replay(into: tally).made == 1)
      journal.close()
      other.close()
    }

    @Test("readers are independent, each from its own first record, with and without awaiting")
    func readers() async throws {
      let journal = try journal()
      #expect(try journal.bounds() == nil)
      #expect(try journal.reader().replay(into: Tally()).made == 0)
      for number in 1...1000 { try journal.append(call(number)) }
      let tallies = (0..<3).map { _ in Tally(keepsOrder: true) }
      let readers = [journal.reader(), journal.reader(from: 501), journal.reader(from: 1001)]
      try readers[0].replay(into: tallies[0])
      try await readers[1].replayAwaiting(into: tallies[1])
      try readers[2].replay(into: tallies[2])
      #expect(tallies.map(\.inOrder) == [Array(1...1000), Array(501...1000), []])
      journal.close()
    }

    @Test("records that are delivered again after the server was killed are performed once")
    func redelivered() throws {
      let journal = try journal()
      for number in 0..<1000 { try journal.append(call(number)) }
      let server = server
      let breaker = Breaker { number in
        guard number == 100 || number == 700 else { return }
        server.kill()
        try server.start()
      }
      let summary = try journal.reader().replay(into: breaker)
      #expect(breaker.inOrder == Array(0..<1000))
      #expect(summary.made == 1000 && summary.threw == 0)
      journal.close()
    }

    @Test("a reader whose consumer the server removed continues with the next record")
    func forgotten() throws {
      let journal = try journal()
      for number in 0..<1000 { try journal.append(call(number)) }
      let server = server
      let breaker = Breaker { number in
        guard number == 100 else { return }
        let socket = try #require(LoopbackSocket(port: server.port))
        let names =
          "CONNECT {\"verbose\":false}\r\nSUB _INBOX.names 1\r\n"
          + "PUB $JS.API.CONSUMER.NAMES.bank _INBOX.names 0\r\n\r\n"
        _ = socket.send(Array(names.utf8))
        var said = ""
        while !said.contains("]}") { said += socket.line() ?? "]}" }
        let name = try #require(said.components(separatedBy: "\"consumers\":[\"").last)
          .prefix { $0 != "\"" }
        _ = socket.send(
          Array("PUB $JS.API.CONSUMER.DELETE.bank.\(name) _INBOX.names 0\r\n\r\n".utf8))
        while !said.contains("\"success\":true") { said += socket.line() ?? "\"success\":true" }
      }
      let summary = try journal.reader().replay(into: breaker)
      #expect(breaker.inOrder == Array(0..<1000))
      #expect(summary.made == 1000 && summary.threw == 0)
      journal.close()
    }

    @Test(
      "a call appended twice with one name is stored once, and performed once even if stored twice")
    func addedTwice() throws {
      var options = StreamOptions()
      options.deadline = .seconds(120)
      // The shortest that a server accepts.
      options.duplicateWindow = .milliseconds(100)
      let journal = try journal(nil, options)
      #expect(try journal.append(call(1), id: "a") == 1)
      #expect(try journal.append(call(2), id: "b") == 2)
      var last: UInt64 = 0
      while last < 3 {
        usleep(50_000)
        last = try journal.append(call(1), id: "a")
      }
      #expect(last == 3)
      let tally = Tally(keepsOrder: true)
      let summary = try journal.reader().replay(into: tally)
      #expect(tally.inOrder == [1, 2])
      #expect(summary.made == 2 && summary.duplicates == 1)
      journal.close()
      // Within the window, the server stores the call once.
      let other = try self.journal(named: "other")
      #expect(try other.append(call(1), id: "a") == 1)
      server.kill()
      try server.start()
      #expect(try other.append(call(1), id: "a") == 1)
      #expect(try other.bounds() == 1...1)
      other.close()
    }

    @Test("a record that does not match the interface ends the replay, or is passed to a closure")
    func unreadable() throws {
      let journal = try journal()
      var others = Interface("tally")
      let take = try AsyncMessage<Int32, Int32>("tallyTake:")
      let rob = try AsyncMessage<Void>("tallyRob")
      try others.allow(take)
      try others.allow(rob)
      let other = try self.journal(others)
      try journal.append(call(1))
      try other.append(take.message.invocation(2))
      try other.append(rob.message.invocation())
      // Any client with the permission to publish can write any record.
      let stranger = try server.connect()
      let subject = RemoteSubject(parts: "forwarding-journal", "bank")
      for bytes in [[], [1, 2, 3], [1, 0, 5, 0, 9, 0, 5, 0, 255, 255, 255, 255]] as [[UInt8]] {
        try stranger.publish(bytes, to: subject)
      }
      while try journal.bounds()?.upperBound != 6 {}
      try journal.append(call(7))
      let tally = Tally(keepsOrder: true)
      let reader = journal.reader()
      for _ in 0..<2 {
        let error = #expect(throws: StreamError.self) { try reader.replay(into: tally) }
        guard case .unreadable(2, let wire) = error, case .encoding = wire.reason else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(reader.next == 2)
      }
      #expect(tally.inOrder == [1])
      var options = StreamReplayOptions()
      var told: [UInt64] = []
      options.migrate = { record, error in
        told.append(record.sequence)
        #expect((record.id == nil) == (record.sequence > 3))
        return record.sequence == 2 ? try Tally.take.message.invocation(2) : nil
      }
      let summary = try reader.replay(into: tally, options)
      #expect(told == [2, 3, 4, 5, 6])
      #expect(tally.inOrder == [1, 2, 7])
      #expect(summary.made == 2 && summary.skipped == 4)
      journal.close()
      other.close()
    }

    @Test("a call of another interface is not appended, nor one that the server cannot store")
    func refused() throws {
      let journal = try journal()
      #expect(throws: StreamError.self) { try journal.append(Vault.add.message.invocation(1)) }
      var texts = Interface("texts")
      try texts.allow(Vault.name)
      let large = try self.journal(texts)
      let text = String(repeating: "x", count: (1 << 20) - 60)
      let error = #expect(throws: StreamError.self) {
        try large.append(Vault.name.message.invocation(text))
      }
      guard case .transport(.tooLarge(limit: 1_048_576, _)) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try journal.bounds() == nil)
      journal.close()
      large.close()
      // A server without JetStream.
      let plain = try NATSServer()
      var options = StreamOptions()
      options.deadline = .milliseconds(100)
      #expect(throws: StreamError.self) {
        try StreamJournal(plain.options(), stream: "x", Tally.interface(), options)
      }
      // A server that does not return.
      options.deadline = .seconds(20)
      let last = try self.journal(nil, options)
      server.kill()
      let gone = #expect(throws: StreamError.self) { try last.append(call(1)) }
      guard case .transport = gone else {
        Issue.record("\(String(describing: gone))")
        return
      }
      last.close()
    }

    @Test(
      "any text is a valid name of a stream", arguments: ["a.b *>", "the bank's %s%n", "é", ""])
    func names(name: String) throws {
      let journal = try journal(named: name)
      for number in 1...3 { try journal.append(call(number)) }
      let tally = Tally(keepsOrder: true)
      try journal.reader(from: 2).replay(into: tally)
      #expect(tally.inOrder == [2, 3])
      journal.close()
    }

    @Test("a cancelled replay continues later with the first call that was not performed")
    func cancelled() async throws {
      let journal = try journal()
      for number in 0..<10 { try journal.append(call(number)) }
      let target = Breaker { number in
        if number == 3 { withUnsafeCurrentTask { $0?.cancel() } }
      }
      let next = await Task {
        let reader = journal.reader()
        await #expect(throws: CancellationError.self) {
          try await reader.replayAwaiting(into: target)
        }
        return reader.next
      }.value
      #expect(target.inOrder == [0, 1, 2, 3] && next == 5)
      try await journal.reader(from: next).replayAwaiting(into: target)
      #expect(target.inOrder == Array(0..<10))
      journal.close()
    }

    @Test("a target that throws is counted, and ends the replay if the options say so")
    func threw() throws {
      let journal = try journal()
      for number in 0..<10 { try journal.append(call(number)) }
      struct Broken: Error {}
      let target = Breaker { if $0 % 3 == 0 { throw Broken() } }
      let summary = try journal.reader().replay(into: target)
      #expect(summary.made == 10 && summary.threw == 4)
      var options = StreamReplayOptions()
      options.stopsAtErrors = true
      let reader = journal.reader(from: 2)
      #expect(throws: Broken.self) { try reader.replay(into: target, options) }
      // The call that threw was performed.
      #expect(reader.next == 5)
      journal.close()
    }
  }

  /// Receives numbers like a tally, and runs a closure before each.
  private final class Breaker: Sendable {
    private let numbers = LockedValue<[Int]>([])
    private let meets: @Sendable (Int) throws -> Void

    private static let isReady: Void = {
      do {
        try MethodTable.of(Breaker.self).register("tallyTake:") { (it: Breaker, number: Int) in
          it.numbers.withLock { $0.append(number) }
          try it.meets(number)
          return number
        }
      } catch { fatalError("\(error)") }
    }()

    init(_ meets: @escaping @Sendable (Int) throws -> Void) {
      self.meets = meets
      Self.isReady
    }

    var inOrder: [Int] { numbers.withLock { $0 } }
  }
#endif
