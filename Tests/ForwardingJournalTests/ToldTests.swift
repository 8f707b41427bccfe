// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

/// The counts of unsynced records in record headers.
@Suite("Counts of unsynced records")
struct ToldTests {
  private let options: JournalOptions = {
    var options = JournalOptions()
    options.sync = .group
    return options
  }()

  @Test("a file closed at the last sequence number gets no further record, and can be read")
  func lastNumber() throws {
    let folder = try Folder()
    let file = try JournalFile(folder.journal, for: .creating)
    try JournalState.begin(
      file, JournalHeader(first: 1 << 63 - 2, time: 1, tellsUnsynced: true))
    do {
      let journal = try Journal(
        at: folder.journal, interface: Ledger.interface(), options)
      PowerCutTests.together(2, on: journal)
      try journal.close()
    }
    let reader = try JournalReader(at: folder.journal)
    var count = 0
    while try reader.next() != nil { count += 1 }
    #expect(count == 2)
    _ = try Journal(at: folder.journal, interface: Ledger.interface())
  }

  @Test("a journal that was released, opened and closed marks its last group as synced")
  func released() throws {
    let folder = try Folder()
    func open() throws -> Journal {
      try Journal(at: folder.journal, interface: Ledger.interface(), options)
    }
    do {
      let journal = try open()
      try Ledger.rename("1", on: journal)
      PowerCutTests.together(3, on: journal)
    }
    // The last thread of the journal may be about to release it.
    var again: Journal?
    while again == nil { again = try? open() }
    try again?.close()
    let bytes = try folder.bytes()
    try open().close()
    #expect(try folder.bytes() == bytes, "nothing more")
    #expect(bytes[bytes.count - 6] == 128)
  }

  @Test(
    "with more unsynced records than can be counted exactly, records far before them are not cut")
  func farInFront() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface, options)
    let call = try Ledger.rename.invocation("x")
    for number in 1...2500 as ClosedRange<UInt64> {
      // Simulates a thousand records that are always unsynced.
      try journal.state.withLock {
        $0.synced = number - min(number, 1000)
        var writer = WireWriter(limit: 100)
        try RecordHeader.reserve(in: &writer)
        let message = try interface.message(of: call)
        try message.writeArguments(of: call, to: &writer)
        _ = try $0.append(&writer, .call, message, of: interface, at: 1)
      }
    }
    let bytes = try folder.bytes()
    var starts: [Int] = []
    let reader = try JournalReader(bytes)
    while let record = try reader.next() { starts.append(record.offset) }
    for (index, isCut) in [(0, false), (700, false), (1400, false), (2000, true), (2400, true)] {
      var other = bytes
      for place in PowerCutTests.sectors(of: starts[index]..<starts[index + 20])[0] {
        other[place] = 0
      }
      let reader = try JournalReader(other)
      if isCut {
        while try reader.next() != nil {}
        #expect(reader.tail != .whole)
      } else {
        #expect(throws: JournalError.self, "\(index)") { while try reader.next() != nil {} }
      }
    }
  }

  @Test("the encoded count is never lower than the number of unsynced records")
  func telling() {
    var header = RecordHeader(kind: .call)
    for count in (0...3000).map(UInt64.init) + (9...63).flatMap({ [1 << $0, 1 << $0 + 1] })
      + [.max]
    {
      header.flags = RecordHeader.telling(unsynced: count)
      #expect(header.unsynced >= count)
      if count < 1 << 38 { #expect(header.unsynced <= max(256, 2 * count)) }
    }
  }
}
