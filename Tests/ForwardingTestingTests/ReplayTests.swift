// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingJournal
  import ForwardingTesting
  import Foundation
  import Testing

  @Forwardable
  protocol TillDelegate: AnyObject {
    func open(_ drawer: Int32)
    @Otherwise(0) func sell(_ goods: [String], to customer: String?) -> Int
  }

  @Suite("A spy as the target of a replay")
  struct ReplayTests {
    @Test("a journal replayed into a spy is matched by types, and answered")
    func replay() throws {
      let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("till-\(UUID().uuidString).journal").path
      defer { try? FileManager.default.removeItem(atPath: path) }
      var interface = Interface("till")
      try interface.allow(TillDelegateProxy.self)
      let till = Spy<TillDelegateProxy>()
      let journal = try Journal(
        at: path, interface: interface, to: till.face, as: TillDelegateProxy.self)
      let face = journal.face(TillDelegateProxy.self)
      face.open(3)
      #expect(face.sell(["tea", "milk"], to: nil) == 0)
      try journal.close()

      let again = Spy<TillDelegateProxy>()
      again.answer(\.sellTo, with: 7)
      let summary = try JournalReader(at: path).replay(
        interface, into: again.face, as: TillDelegateProxy.self)
      #expect(summary.made == 2 && summary.threw == 0)
      #expect(again.received(\.open) == [3])
      #expect(again.received(\.sellTo).map(\.0) == [["tea", "milk"]])
      #expect(again.received(\.sellTo).map(\.1) == [nil])
      #expect(again.transcript == till.transcript)
      again.verifyInOrder {
        $0.open
        $0.sellTo
      }
    }
  }
#endif
