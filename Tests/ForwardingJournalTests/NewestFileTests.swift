// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("The newest of several files")
struct NewestFileTests {
  @Test("if the newest file is gone, no other one is begun in its place")
  func withoutNewest() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    do {
      let journal = try Journal(at: folder.journal, interface: interface)
      for number in 1...3 { try Ledger.rename("\(number)", on: journal) }
      try journal.rotate()
      try Ledger.rename("4", on: journal)
      try journal.close()
    }
    let newest = try folder.bytes()
    try FileManager.default.removeItem(atPath: folder.journal)
    for _ in 0..<2 {
      #expect(
        throws: JournalError.withoutNewest(
          path: folder.journal, rotated: folder.journal + ".000000000001")
      ) { try Journal(at: folder.journal, interface: interface) }
    }
    #expect(!FileManager.default.fileExists(atPath: folder.journal))
    try folder.write(newest)
    #expect(try Journal(at: folder.journal, interface: interface).nextSequence == 5)
  }
}
