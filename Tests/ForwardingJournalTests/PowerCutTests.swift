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
  /// The first of those defines a second message.
  private struct Group {
    let folder: Folder
    private(set) var bytes: [UInt8] = []
    /// The offset of each record, and the end of the last one.
    private(set) var starts: [Int] = []
    /// The number of acknowledged records, and their end.
    let synced = 5
    var safe: Int { starts[synced] }

    init(waiting: Int, first: String = "1") throws {
      folder = try Folder()
      let journal = try folder.open(sync: .group)
      for number in 1...synced { try Ledger.rename(number == 1 ? first : "\(number)", on: journal) }
      var bytes: [UInt8] = []
      PowerCutTests.together(waiting, on: journal) { bytes = (try? folder.bytes()) ?? [] }
      #expect(journal.syncs == synced + 1 && journal.unsynced == 0, "they share one sync")
      let reader = try folder.reader()
      while let record = try reader.next() { starts.append(record.offset) }
      starts.append(reader.offset)
      #expect(starts.count == synced + waiting + 1 && reader.torn == 0)
      try journal.close()
      self.bytes = bytes
    }

    /// Opens the file after a power cut: all acknowledged records are there, and the journal
    /// continues.
    func continues(with bytes: [UInt8], _ place: String) throws {
      try folder.write(bytes)
      let journal = try folder.open()
      let next = journal.nextSequence
      #expect(next > synced, "\(place): \(next)")
      try Ledger.rename("new", on: journal)
      try journal.close()
      let reader = try folder.reader()
      var sequence: UInt64 = 0
      while let record = try reader.next() {
        sequence += 1
        #expect(record.sequence == sequence)
        if sequence <= synced { #expect(record.offset == starts[Int(sequence) - 1]) }
      }
      #expect(sequence == next && reader.torn == 0, "\(place)")
    }
  }

  /// Writes records that wait for a shared sync, and runs `body` while they wait.
  private static func together(_ waiting: Int, on journal: Journal, _ body: () -> Void = {}) {
    // Simulates another thread that waits for the disk.
    journal.announce { $0.isSyncing = true }
    let (before, done) = (journal.nextSequence, DispatchSemaphore(value: 0))
    for number in 1...UInt64(waiting) {
      beginThread {
        if number % 2 == 1 {
          _ = try? Ledger.add(1, 1, true, on: journal)
        } else {
          _ = try? Ledger.rename("\(before + number)", on: journal)
        }
        done.signal()
      }
      while journal.nextSequence < before + number { usleep(100) }
    }
    body()
    journal.announce { $0.isSyncing = false }
    for _ in 1...waiting { done.wait() }
  }

  @Test("any sectors of unacknowledged records may be missing, even if later ones are there")
  func holes() throws {
    // From any byte on, there may be zeros.
    let group = try Group(waiting: 4)
    let size = group.bytes.count
    for place in group.safe...size {
      let zeros = [UInt8](repeating: 0, count: size - place)
      try group.continues(with: group.bytes[..<place] + zeros, "zeros at \(place)")
    }
    // The first sector begins everywhere in a record.
    for length in stride(from: 1, to: 512, by: 23) {
      let group = try Group(waiting: 40, first: String(repeating: "x", count: length))
      let first = group.safe / 512
      let count = (group.bytes.count - 1) / 512 - first + 1
      #expect(count >= 4)
      for missing in 1..<(1 << count) {
        var bytes = group.bytes
        for place in group.safe..<bytes.count where missing >> (place / 512 - first) & 1 == 1 {
          bytes[place] = 0
        }
        try group.continues(with: bytes, "\(length), without \(String(missing, radix: 2))")
      }
    }
  }

  @Test("an acknowledged record that is broken before later ones is damage, and nothing is cut")
  func damage() throws {
    let group = try Group(waiting: 300)
    for index in group.starts[1]..<group.safe {
      for isZero in [true, false] where !isZero || group.bytes[index] != 0 {
        var bytes = group.bytes
        bytes[index] = isZero ? 0 : bytes[index] ^ 1
        try group.folder.write(bytes)
        #expect(throws: JournalError.self, "byte \(index)") { try group.folder.open() }
        #expect(try group.folder.bytes() == bytes)
      }
    }
    // No later record says that the group was on the disk: it is cut at the broken record.
    var bytes = group.bytes
    bytes[group.starts[100]] ^= 1
    try group.continues(with: bytes, "in the group")
  }

  @Test(
    "the last group, which no later record says to be on the disk, is written again by an opening",
    .notEmulated("no ptrace"))
  func writtenAgain() async {
    await #expect(processExitsWith: .success) {
      let group = try Group(waiting: 3)
      let (folder, bytes) = (group.folder, try group.folder.bytes())
      var calls: [String] = []
      let status = try SystemCall.trace({ _ = try folder.open(sync: .group) }) { call in
        guard call.result == nil, call.changesFiles, call.name != "open" else { return .go }
        calls.append(call.name)
        if call.name == "write" {
          let (count, offset) = (Int(call.arguments[2]), Int(call.arguments[3]))
          require(offset == group.safe && offset + count == bytes.count, "\(offset), \(count)")
        }
        return .go
      }
      require(status == 0 && calls.prefix(3) == ["flock", "write", "fdatasync"], "\(calls)")
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
    beginThread {
      _ = try? Ledger.rename("2", on: journal)
      done.signal()
    }
    // A thread that did not wait would have rotated the file by then.
    usleep(50_000)
    #expect(journal.nextSequence == 2)
    try sync.file.sync(holding: sync.size)
    journal.announce { $0.end(sync, .success(())) }
    done.wait()
    #expect(try folder.files.count == 2)
  }
}
