// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

/// Files after a power cut: they have everything that was synced, and any part of the rest.
@Suite("Power cuts")
struct PowerCutTests {
  /// A file with records that were acknowledged one by one, and others that wait for a shared sync.
  private struct Written {
    var bytes: [UInt8]
    /// The offset of each record, and the end of the last one.
    var starts: [Int] = []
    /// The number of acknowledged records.
    let synced: Int
    /// The end of the acknowledged records.
    var safe: Int { starts[synced] }
  }

  /// Records of two messages. The first unacknowledged record defines the second message.
  private func written(
    _ folder: Folder, synced: Int = 5, waiting: Int = 4, first: String = "1"
  ) throws -> Written {
    var options = JournalOptions()
    options.sync = .group
    // Little preallocation, so that few offsets have to be tried.
    options.rotation = 4096
    let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
    for number in 1...synced { try Ledger.rename(number == 1 ? first : "\(number)", on: journal) }
    var bytes: [UInt8] = []
    Self.together(waiting, on: journal) { bytes = (try? folder.bytes()) ?? [] }
    var written = Written(bytes: bytes, synced: synced)
    let reader = try JournalReader(written.bytes)
    while let record = try reader.next() { written.starts.append(record.offset) }
    written.starts.append(reader.offset)
    #expect(written.starts.count == synced + waiting + 1 && reader.tail == .whole)
    try journal.close()
    return written
  }

  /// Writes records that wait for a shared sync, and runs `body` while they wait.
  static func together(
    _ waiting: Int, on journal: Journal, _ body: () -> Void = {}
  ) {
    // Simulates another thread that waits for the disk.
    journal.state.announce { $0.isSyncing = true }
    let (before, done) = (journal.nextSequence, DispatchSemaphore(value: 0))
    for number in 1...UInt64(waiting) {
      Thread {
        if number % 2 == 1 {
          _ = try? Ledger.add(1, 1, true, on: journal)
        } else {
          _ = try? Ledger.rename("\(before + number)", on: journal)
        }
        done.signal()
      }.start()
      while journal.nextSequence < before + number { usleep(100) }
    }
    body()
    journal.state.announce { $0.isSyncing = false }
    for _ in 1...waiting { done.wait() }
  }

  /// Opens the file after a power cut: all acknowledged records are there, and the journal
  /// continues.
  private func goesOn(_ bytes: [UInt8], _ written: Written, _ folder: Folder, _ place: String)
    throws
  {
    try folder.write(bytes)
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    let next = journal.nextSequence
    #expect(next > written.synced, "\(place): \(next)")
    try Ledger.rename("new", on: journal)
    try journal.close()
    let reader = try JournalReader(at: folder.journal)
    var sequence: UInt64 = 0
    while let record = try reader.next() {
      sequence += 1
      #expect(record.sequence == sequence)
      if sequence <= written.synced { #expect(record.offset == written.starts[Int(sequence) - 1]) }
    }
    #expect(sequence == next && reader.tail == .whole, "\(place)")
  }

  @Test(
    "a file that ends, or has zeros, from any byte after the acknowledged records continues there")
  func everyByte() throws {
    let folder = try Folder()
    let written = try written(folder)
    let size = written.bytes.count
    for place in written.safe...written.starts[9] {
      let whole = Array(written.bytes[..<place])
      try goesOn(whole, written, folder, "cut at \(place)")
      try goesOn(
        whole + [UInt8](repeating: 0, count: size - place), written, folder, "zeros at \(place)")
    }
  }

  @Test(
    "any unacknowledged records may be missing, even if later ones are there")
  func holes() throws {
    // A disk writes whole sectors, in any order.
    for first in ["1", String(repeating: "x", count: 200), String(repeating: "x", count: 331)] {
      let folder = try Folder()
      let written = try written(folder, waiting: 40, first: first)
      let parts = Self.sectors(of: written.safe..<written.starts[45])
      #expect(parts.count >= 4)
      for missing in 1..<(1 << parts.count) {
        var bytes = written.bytes
        for (index, part) in parts.enumerated() where missing >> index & 1 == 1 {
          for place in part { bytes[place] = 0 }
        }
        try goesOn(bytes, written, folder, "without \(String(missing, radix: 2))")
      }
    }
  }

  /// The sectors that contain a part of a file, without the bytes outside of the part.
  static func sectors(of part: Range<Int>) -> [Range<Int>] {
    (part.lowerBound / 512...(part.upperBound - 1) / 512).map {
      max(part.lowerBound, $0 * 512)..<min(part.upperBound, $0 * 512 + 512)
    }
  }

  @Test("an acknowledged record that is broken before later ones is damage, and nothing is cut")
  func damage() throws {
    let folder = try Folder()
    let written = try written(folder)
    for index in written.starts[1]..<written.starts[4] {
      for isZero in [true, false] where !isZero || written.bytes[index] != 0 {
        var bytes = written.bytes
        bytes[index] = isZero ? 0 : bytes[index] ^ 1
        try folder.write(bytes)
        #expect(throws: JournalError.self, "byte \(index)") {
          try Journal(at: folder.journal, interface: Ledger.interface())
        }
        #expect(try folder.bytes() == bytes)
      }
    }
  }

  @Test("a broken record of an acknowledged group in a closed journal is damage")
  func closed() throws {
    let folder = try Folder()
    let written = try written(folder)
    let bytes = try folder.bytes()
    for index in written.starts[1]..<written.starts[9] {
      var other = bytes
      other[index] ^= 1
      try folder.write(other)
      #expect(throws: JournalError.self, "byte \(index)") {
        try Journal(at: folder.journal, interface: Ledger.interface())
      }
    }
  }

  @Test("a flipped bit in the last group of a killed process is damage, and nothing is cut")
  func flipped() throws {
    let folder = try Folder()
    let written = try written(folder)
    // The last record has no record after it, and is torn.
    for index in written.safe..<written.starts[8] {
      var bytes = written.bytes
      bytes[index] ^= 1
      try folder.write(bytes)
      #expect(throws: JournalError.self, "byte \(index)") {
        try Journal(at: folder.journal, interface: Ledger.interface())
      }
      #expect(try folder.bytes() == bytes)
    }
  }

  @Test("zeros of an argument are not taken for a sector that did not reach the disk")
  func zerosAsContents() throws {
    let folder = try Folder()
    var options = JournalOptions()
    options.sync = .group
    let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
    try Ledger.rename("1", on: journal)
    journal.state.announce { $0.isSyncing = true }
    let done = DispatchSemaphore(value: 0)
    for number in 2...10 as ClosedRange<UInt64> {
      Thread {
        _ = try? Ledger.rename(String(repeating: "\0", count: 90), on: journal)
        done.signal()
      }.start()
      while journal.nextSequence <= number { usleep(100) }
    }
    let bytes = try folder.bytes()
    journal.state.announce { $0.isSyncing = false }
    for _ in 2...10 { done.wait() }
    try journal.close()
    let reader = try JournalReader(bytes)
    var starts: [Int] = []
    while let record = try reader.next() { starts.append(record.offset) }
    for index in 1..<9 {
      var other = bytes
      other[starts[index] + 33] ^= 1
      try folder.write(other)
      #expect(throws: JournalError.self, "record \(index)") {
        try Journal(at: folder.journal, interface: Ledger.interface())
      }
      #expect(try folder.bytes() == other)
    }
  }

  @Test("zeros after the records of a file without preallocation are torn")
  func withoutRoom() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    try Ledger.rename("1", on: journal)
    try journal.close()
    let bytes = try folder.bytes()
    let reader = try JournalReader(bytes + [0, 0, 0])
    while try reader.next() != nil {}
    #expect(reader.tail == .torn(offset: bytes.count, bytes: 3))
  }

  @Test("with more unsynced records than can be counted, none is taken for synced")
  func many() throws {
    let folder = try Folder()
    let written = try written(folder, synced: 2, waiting: 300)
    var bytes = written.bytes
    for place in Self.sectors(of: written.safe..<written.starts[300])[0] { bytes[place] = 0 }
    try goesOn(bytes, written, folder, "the first of 300")
  }

  @Test("a record that lost its first bytes at the end of a sector may be unsynced")
  func beginnings() throws {
    for lost in 1...24 {
      let folder = try Folder()
      let written = try written(
        folder, synced: 1, first: String(repeating: "x", count: 512 - 123 - lost))
      // The definition of the second message is not acknowledged either.
      let begin = 512 - lost
      var bytes = written.bytes
      #expect(written.safe - begin == 67 && bytes[begin + 26] == 1)
      for place in begin..<512 { bytes[place] = 0 }
      try goesOn(bytes, written, folder, "\(lost)")
      // A flipped bit after them shows that this was no power cut.
      if lost >= 4 { continue }
      bytes[begin + 40] ^= 1
      try folder.write(bytes)
      #expect(throws: JournalError.self) {
        try Journal(at: folder.journal, interface: Ledger.interface())
      }
    }
  }
}
