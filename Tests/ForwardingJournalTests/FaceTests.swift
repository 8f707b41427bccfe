// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingJournal
  import ForwardingTesting
  import Testing

  struct Receipt: Codable, Hashable, Sendable {
    var lines: [String]
    var total: Double
  }

  @Forwardable
  protocol Till: AnyObject {
    func open(_ drawer: Int32)
    func sell(_ receipt: Receipt, to customer: String?) throws -> Int
    func refund(_ number: Int) async throws -> Receipt
    @Otherwise("") var note: String { get set }
  }

  @Forwardable
  protocol Handler: AnyObject {
    func handle(_ body: @escaping @Sendable () -> Void)
  }

  private final class PaperTill: Till, @unchecked Sendable {
    var log: [String] = []
    var note = ""
    struct Empty: Error {}

    func open(_ drawer: Int32) { log.append("open \(drawer)") }
    func sell(_ receipt: Receipt, to customer: String?) throws -> Int {
      if receipt.lines.isEmpty { throw Empty() }
      log.append("sell \(receipt.lines) \(receipt.total) \(customer ?? "-") \(note)")
      return log.count
    }
    func refund(_ number: Int) async throws -> Receipt {
      await Task.yield()
      log.append("refund \(number)")
      return Receipt(lines: ["-\(number)"], total: 0)
    }
  }

  @Suite("A journal behind a face")
  struct FaceTests {
    @Test("the protocol defines which messages may be recorded")
    func list() throws {
      var interface = Interface("till")
      try interface.allow(TillProxy.self)
      #expect(
        interface.messages.map(\.selector.name).sorted() == [
          "note", "open:", "refund:", "sell:to:", "setNote:",
        ])
      var other = Interface("handler")
      #expect(throws: InterfaceError.self) { try other.allow(HandlerProxy.self) }
      #expect(other.messages.isEmpty, "all or none")
    }

    @Test("calls of a face are recorded, and replayed into another object of the protocol")
    func calls() async throws {
      let folder = try Folder()
      var interface = Interface("till")
      try interface.allow(TillProxy.self)
      let till = PaperTill()
      let journal = try Journal(
        at: folder.journal, interface: interface, to: till, as: TillProxy.self)
      let face: any Till = journal.face(TillProxy.self)
      face.open(3)
      face.note = "grüße"
      #expect(try face.sell(Receipt(lines: ["tea"], total: 2.5), to: nil) == 2)
      #expect(throws: PaperTill.Empty.self) {
        try face.sell(Receipt(lines: [], total: 0), to: "Ada")
      }
      #expect(try await face.refund(7).lines == ["-7"])
      try journal.close()

      let other = PaperTill()
      TillProxy.__prepare(other)
      var options = ReplayOptions()
      options.failures = .ignore
      let summary = try await JournalReader(at: folder.journal)
        .replayAwaiting(interface, into: other, options)
      #expect(other.log == till.log && other.note == till.note)
      #expect(summary.made == 5 && summary.threw == 1)
      // In a replay that does not await, the async method refuses its call, and the others make
      // theirs.
      let third = PaperTill()
      let again = try JournalReader(at: folder.journal)
        .replay(interface, into: third, as: TillProxy.self, options)
      #expect(again.threw == 2 && third.log == Array(till.log.dropLast()))
    }

    @Test("a spy of the protocol gets the same calls with the same arguments, in order")
    func spy() async throws {
      let folder = try Folder()
      var interface = Interface("till")
      try interface.allow(TillProxy.self)
      let till = PaperTill()
      let journal = try Journal(
        at: folder.journal, interface: interface, to: till, as: TillProxy.self)
      let face: any Till = journal.face(TillProxy.self)
      let receipts = (0..<3).map { Receipt(lines: ["tea", "\($0)"], total: Double($0) / 3) }
      for (number, receipt) in receipts.enumerated() {
        face.open(Int32(-number))
        face.note = "note \(number)"
        _ = try face.sell(receipt, to: number == 1 ? nil : "Ada \(number)")
      }
      _ = try await face.refund(.max)
      try journal.close()

      let spy = Spy<TillProxy>()
      spy.answer(\.sellTo, with: 1)
      spy.answer(\.refund, with: Receipt(lines: [], total: 0))
      let summary = try await JournalReader(at: folder.journal)
        .replayAwaiting(interface, into: spy.proxy)
      #expect(summary.made == 10 && summary.threw == 0)
      #expect(spy.received(\.open) == [0, -1, -2])
      #expect(spy.received(\.sellTo).map(\.0) == receipts)
      #expect(spy.received(\.sellTo).map(\.1) == ["Ada 0", nil, "Ada 2"])
      #expect(spy.received(\.refund) == [.max])
      let round = ["open", "setNote", "sell"]
      #expect(
        spy.transcript.map { $0.prefix { $0.isLetter } }
          == (round + round + round + ["refund"]).map { $0[...] })
    }
  }
#endif
