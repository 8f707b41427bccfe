// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import Foundation
import Testing

@Suite("Records")
struct RecordTests {
  private static let rename = try! Message<NoResult, String>("renameTheWholeLedgerTo:")

  private func reader(_ folder: Folder, _ names: [String]) throws -> JournalReader {
    var interface = Interface("an interface of a long name")
    try interface.allow(Self.rename)
    let journal = try Journal(at: folder.journal, interface: interface)
    for name in names { try Self.rename(name, on: journal) }
    try journal.close()
    return try JournalReader(at: folder.journal)
  }

  /// The address of a string's bytes.
  private func place(_ text: String) -> UnsafePointer<UInt8>? {
    text.utf8.withContiguousStorageIfAvailable { $0.baseAddress } ?? nil
  }

  @Test("the records of a message share its strings")
  func sharedTexts() throws {
    let folder = try Folder()
    let reader = try reader(folder, ["1", "2"])
    let (one, other) = (try #require(try reader.next()), try #require(try reader.next()))
    #expect(one.sequence == 1 && other.sequence == 2)
    for text in [\JournalRecord.interface, \.selector] {
      #expect(place(one[keyPath: text]) == place(other[keyPath: text]))
    }
    #expect(one.interface == "an interface of a long name" && one.encoding == "v@:*")
  }

  @Test("records with equal contents are equal, whichever reader read them")
  func equality() throws {
    let folder = try Folder()
    let first = try reader(folder, ["1", "2"])
    let second = try JournalReader(at: folder.journal)
    let records = [try #require(try first.next()), try #require(try first.next())]
    let again = try #require(try second.next())
    #expect(again == records[0] && again.hashValue == records[0].hashValue)
    #expect(again != records[1])
    #expect(Set(records + [again]).count == 2)
  }
}
