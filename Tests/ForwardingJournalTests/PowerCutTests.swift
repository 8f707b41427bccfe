// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

/// Files after a power cut while calls waited for the disk together: they have everything that was
/// synced, and any sectors of the rest.
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
    let journal = try folder.open(sync: .group)
    for number in 1...synced { try Ledger.rename(number == 1 ? first : "\(number)", on: journal) }
    var bytes: [UInt8] = []
    Self.together(waiting, on: journal) { bytes = (try? folder.bytes()) ?? [] }
    #expect(journal.syncs == synced + 1 && journal.unsynced == 0, "they share one sync")
    var written = Written(bytes: bytes, synced: synced)
    let reader = try folder.reader()
    while let record = try reader.next() { written.starts.append(record.offset) }
    written.starts.append(reader.offset)
    #expect(written.starts.count == synced + waiting + 1 && reader.torn == 0)
    try journal.close()
    return written
  }

  /// Writes records that wait for a shared sync, and runs `body` while they wait.
  static func together(
    _ waiting: Int, on journal: Journal, _ body: () -> Void = {}
  ) {
    // Simulates another thread that waits for the disk.
    journal.announce { $0.isSyncing = true }
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
    journal.announce { $0.isSyncing = false }
    for _ in 1...waiting { done.wait() }
  }

  /// Opens the file after a power cut: all acknowledged records are there, and the journal
  /// continues.
  private func goesOn(_ bytes: [UInt8], _ written: Written, _ folder: Folder, _ place: String)
    throws
  {
    try folder.write(bytes)
    let journal = try folder.open()
    let next = journal.nextSequence
    #expect(next > written.synced, "\(place): \(next)")
    try Ledger.rename("new", on: journal)
    try journal.close()
    let reader = try folder.reader()
    var sequence: UInt64 = 0
    while let record = try reader.next() {
      sequence += 1
      #expect(record.sequence == sequence)
      if sequence <= written.synced { #expect(record.offset == written.starts[Int(sequence) - 1]) }
    }
    #expect(sequence == next && reader.torn == 0, "\(place)")
  }

  @Test(
    "a file that ends, or has zeros, from any byte after the acknowledged records continues there")
  func everyByte() throws {
    let folder = try Folder()
    let written = try written(folder)
    let size = written.bytes.count
    for place in written.safe...size {
      let whole = Array(written.bytes[..<place])
      try goesOn(whole, written, folder, "cut at \(place)")
      try goesOn(
        whole + [UInt8](repeating: 0, count: size - place), written, folder, "zeros at \(place)")
    }
  }

  /// The sectors that contain a part of a file, without the bytes outside of the part.
  private static func sectors(of part: Range<Int>) -> [Range<Int>] {
    (part.lowerBound / 512...(part.upperBound - 1) / 512).map {
      max(part.lowerBound, $0 * 512)..<min(part.upperBound, $0 * 512 + 512)
    }
  }

  @Test("any sectors of unacknowledged records may be missing, even if later ones are there")
  func holes() throws {
    // The first sector begins everywhere in a record.
    for length in stride(from: 1, to: 512, by: 23) {
      let folder = try Folder()
      let written = try written(folder, waiting: 40, first: String(repeating: "x", count: length))
      let parts = Self.sectors(of: written.safe..<written.starts[45])
      #expect(parts.count >= 4)
      for missing in 1..<(1 << parts.count) {
        var bytes = written.bytes
        for (index, part) in parts.enumerated() where missing >> index & 1 == 1 {
          for place in part { bytes[place] = 0 }
        }
        try goesOn(bytes, written, folder, "\(length), without \(String(missing, radix: 2))")
      }
    }
  }

  @Test("an acknowledged record that is broken before later ones is damage, and nothing is cut")
  func damage() throws {
    let folder = try Folder()
    let written = try written(folder, waiting: 300)
    for index in written.starts[1]..<written.starts[4] {
      for isZero in [true, false] where !isZero || written.bytes[index] != 0 {
        var bytes = written.bytes
        bytes[index] = isZero ? 0 : bytes[index] ^ 1
        try folder.write(bytes)
        #expect(throws: JournalError.self, "byte \(index)") {
          try folder.open()
        }
        #expect(try folder.bytes() == bytes)
      }
    }
    // No later record says that the group was on the disk: it is cut at the broken record.
    var bytes = written.bytes
    bytes[written.starts[100]] ^= 1
    try goesOn(bytes, written, folder, "in the group")
  }

  @Test(
    "the last group, which no later record says to be on the disk, is written again by an opening",
    .notEmulated("no ptrace"))
  func writtenAgain() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      do {
        let journal = try folder.open(sync: .group)
        for number in 1...3 { try Ledger.rename("\(number)", on: journal) }
        PowerCutTests.together(3, on: journal)
        try journal.close()
      }
      let bytes = try folder.bytes()
      var calls: [String] = []
      let status = try SystemCall.trace({
        _ = try folder.open(sync: .group)
      }) { call in
        if call.result == nil, call.name != "other" { calls.append(call.name) }
        return .go
      }
      require(
        status == 0 && calls.filter { $0 != "open" }.starts(with: ["flock", "write", "fdatasync"]),
        "\(calls)")
      require(try folder.bytes() == bytes)
      _exit(0)
    }
  }

  @Test("a sync covers the records that were written before it")
  func writtenMeanwhile() throws {
    let folder = try Folder()
    let journal = try folder.open()
    try Ledger.rename("1", on: journal)
    let sync = try journal.state.withLock { try $0.beginSync() }
    try Ledger.rename("2", on: journal)
    journal.announce { $0.end(sync, .success(())) }
    #expect(journal.unsynced == 1)
  }

  @Test("a full file is not rotated while a thread waits for it")
  func fullMeanwhile() throws {
    let folder = try Folder()
    let journal = try folder.open(rotation: 1)
    try Ledger.rename("1", on: journal)
    let sync = try journal.state.withLock { try $0.beginSync() }
    let done = DispatchSemaphore(value: 0)
    Thread {
      _ = try? Ledger.rename("2", on: journal)
      done.signal()
    }.start()
    // A thread that did not wait would have rotated the file by then.
    usleep(50_000)
    #expect(journal.nextSequence == 2)
    try sync.file.sync(holding: sync.size)
    journal.announce { $0.end(sync, .success(())) }
    done.wait()
    #expect(try folder.files.count == 2)
  }
}
