// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingJournal
  import ForwardingTesting
  import Invocations
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
  protocol Shelf: AnyObject {
    func keep<Value: Sendable>(_ value: Value)
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

  @Suite("A journal behind a proxy")
  struct GeneratedProxyTests {
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
      #expect(throws: InterfaceError.noMessages(proxy: SwiftType(ShelfProxy.self))) {
        try other.allow(ShelfProxy.self)
      }
      #expect(other.messages.isEmpty, "all or none")
    }

    @Test("calls of a proxy are recorded, and replayed into another object of the protocol")
    func calls() async throws {
      let folder = try Folder()
      var interface = Interface("till")
      try interface.allow(TillProxy.self)
      let till = PaperTill()
      let journal = try Journal(
        at: folder.journal, interface: interface, to: till, as: TillProxy.self)
      let proxy: any Till = journal.proxy(TillProxy.self)
      proxy.open(3)
      proxy.note = "grüße"
      #expect(try proxy.sell(Receipt(lines: ["tea"], total: 2.5), to: nil) == 2)
      #expect(throws: PaperTill.Empty.self) {
        try proxy.sell(Receipt(lines: [], total: 0), to: "Ada")
      }
      #expect(try await proxy.refund(7).lines == ["-7"])
      try journal.close()

      let other = PaperTill()
      TillProxy.__prepare(other)
      nonisolated(unsafe) var failures: [String] = []
      let made = try await JournalReader(at: folder.journal)
        .replayAwaiting(interface, into: other) { record, _ in failures.append(record.selector) }
      #expect(other.log == till.log && other.note == till.note)
      #expect(made == 5 && failures == ["sell:to:"])
      // In a replay that does not await, the async method refuses its call, and the others make
      // theirs.
      let third = PaperTill()
      let error = #expect(throws: ReplayError.self) {
        try folder.reader().replay(interface, into: third, as: TillProxy.self)
      }
      #expect(error?.failed == 2 && third.log == Array(till.log.dropLast()))
    }
  }
#endif
