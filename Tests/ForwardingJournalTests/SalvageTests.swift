// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("Salvage of calls after damage")
struct SalvageTests {
  private struct Written {
    let folder: Folder
    var bytes: [UInt8]
    /// The offset of each record, and of the end.
    let starts: [Int]
    var output: String { folder.path + "/out" }

    func saved() throws -> [JournalRecord] {
      let reader = try JournalReader(at: output)
      var records: [JournalRecord] = []
      while let record = try reader.next() { records.append(record) }
      #expect(reader.tail == .whole)
      return records
    }
  }

  /// A journal of forty calls of two messages: every 16th is of the second.
  private func written() throws -> Written {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    for number in 1...40 { try FaultTests.send(UInt64(number), to: journal) }
    try journal.close()
    let reader = try JournalReader(at: folder.journal)
    var starts: [Int] = []
    while let record = try reader.next() { starts.append(record.offset) }
    let bytes = try folder.bytes()
    return Written(folder: folder, bytes: bytes, starts: starts + [bytes.count])
  }

  private func original(_ written: Written) throws -> [JournalRecord] {
    let reader = try JournalReader(written.bytes)
    var records: [JournalRecord] = []
    while let record = try reader.next() { records.append(record) }
    return records
  }

  @Test("a whole journal is copied without losses")
  func whole() throws {
    let written = try written()
    let salvage = try Journal.salvage(written.folder.journal, to: written.output)
    #expect(salvage.saved == 40 && salvage.losses == [] && salvage.missing == [])
    #expect(try written.folder.bytes("out").dropFirst(32) == written.bytes.dropFirst(32))
  }

  @Test("a flipped bit loses its call, which is reported, and no other call")
  func everyRecord() throws {
    let written = try written()
    let before = try original(written)
    for index in 1..<39 where index != 15 {
      let start = written.starts[index]
      // The definition of the second message precedes its first call.
      let end = index == 14 ? start + 49 : written.starts[index + 1]
      for place in [start, start + 5, start + 9, start + 30, end - 1] {
        try? FileManager.default.removeItem(atPath: written.output)
        var bytes = written.bytes
        bytes[place] ^= 4
        try written.folder.write(bytes)
        let salvage = try Journal.salvage(written.folder.journal, to: written.output)
        let number = UInt64(index + 1)
        #expect(salvage.saved == 39 && salvage.missing == [number...number], "\(place)")
        #expect(
          salvage.losses == [
            .init(
              path: written.folder.journal, offset: start,
              bytes: end - start, reason: .damaged)
          ], "\(place)")
        let saved = try written.saved()
        #expect(saved.map(\.sequence) == before.map(\.sequence).filter { $0 != number })
        #expect(saved.map(\.arguments) == before.filter { $0.sequence != number }.map(\.arguments))
        #expect(saved.map(\.time) == before.filter { $0.sequence != number }.map(\.time))
        #expect(try written.folder.bytes() == bytes, "the damaged file is another one")
      }
    }
  }

  @Test("the new journal continues after the last number, and can be replayed")
  func goingOn() throws {
    var written = try written()
    written.bytes[written.starts[20] + 40] ^= 1
    try written.folder.write(written.bytes)
    let interface = try Ledger.interface()
    try Journal.salvage(written.folder.journal, to: written.output)
    let journal = try Journal(at: written.output, interface: interface)
    #expect(journal.nextSequence == 41)
    try FaultTests.send(41, to: journal)
    try journal.close()
    let ledger = Ledger()
    #expect(try JournalReader(at: written.output).replay(interface, into: ledger).made == 40)
  }

  @Test("calls of a message whose definition was lost are reported with its number")
  func lostDefinition() throws {
    var written = try written()
    written.bytes[40] ^= 1
    try written.folder.write(written.bytes)
    let salvage = try Journal.salvage(written.folder.journal, to: written.output)
    #expect(try written.saved().map(\.sequence) == [16, 32])
    #expect(salvage.missing == [1...15, 17...31] && salvage.saved == 2)
    #expect(
      salvage.losses.map(\.reason) == [
        .damaged, .undefined(message: 0), .undefined(message: 0), .undefined(message: 0),
      ])
  }

  @Test("a lost file header, and zeros over any part, lose no whole call elsewhere")
  func zeros() throws {
    let written = try written()
    for (from, to) in [(0, 32), (0, 20), (written.starts[3] + 7, written.starts[9] + 40)] {
      try? FileManager.default.removeItem(atPath: written.output)
      var bytes = written.bytes
      for index in from..<to { bytes[index] = 0 }
      try written.folder.write(bytes)
      let salvage = try Journal.salvage(written.folder.journal, to: written.output)
      #expect(salvage.saved == (from == 0 ? 40 : 33))
      #expect(salvage.missing == (from == 0 ? [] : [4...10]))
    }
  }

  @Test("swapped files are read in the order of their numbers, and copies once")
  func misplaced() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    let ledger = Ledger()
    let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
    for number in 1...40 {
      try FaultTests.send(UInt64(number), to: journal)
      if number % 10 == 0, number < 40 { try journal.rotate() }
    }
    try journal.close()
    let names = ["a.journal.000000000001", "a.journal.000000000011", "a.journal.000000000021"]
    let bytes = try names.map { try folder.bytes($0) }
    try folder.write(bytes[2], names[0])
    try folder.write(bytes[0], names[2])
    try folder.write(bytes[1], "a.journal.000000000015")
    let salvage = try Journal.salvage(folder.journal, to: folder.path + "/out")
    #expect(salvage.saved == 40 && salvage.missing == [] && salvage.files == 5)
    #expect(Set(salvage.losses.map(\.reason)) == [.repeated])
    let other = Ledger()
    try JournalReader(at: folder.path + "/out").replay(interface, into: other)
    #expect(other == ledger)
  }

  @Test("if the newest file is gone, it is reported, and the calls of the others are saved")
  func newestGone() throws {
    let folder = try Folder()
    let (interface, ledger) = (try Ledger.interface(), Ledger())
    let journal = try Journal(at: folder.journal, interface: interface)
    for number in 1...40 {
      try FaultTests.send(UInt64(number), to: journal)
      if number <= 30 { try FaultTests.send(UInt64(number), to: ledger) }
      if number % 10 == 0, number < 40 { try journal.rotate() }
    }
    try journal.close()
    try FileManager.default.removeItem(atPath: folder.journal)
    let output = folder.path + "/out"
    let salvage = try Journal.salvage(folder.journal, to: output)
    #expect(salvage.saved == 30 && salvage.missing == [] && salvage.files == 3)
    #expect(salvage.losses.map(\.reason) == [.absent])
    #expect(salvage.losses.map(\.description) == ["\(folder.journal) is not there"])
    let other = Ledger()
    #expect(try JournalReader(at: output).replay(interface, into: other).made == 30)
    #expect(other == ledger)
    #expect(try Journal(at: output, interface: interface).nextSequence == 31)
  }

  @Test("if no file is left, the error says so, and no journal is created")
  func noneLeft() throws {
    let folder = try Folder()
    let output = folder.path + "/out"
    #expect(throws: JournalError.system("opened", path: folder.journal, code: ENOENT)) {
      try Journal.salvage(folder.journal, to: output)
    }
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  @Test("compacted numbers are not missing, and the number of the next record is preserved")
  func compacted() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    for number in 1...40 { try FaultTests.send(UInt64(number), to: journal) }
    try journal.compact { $0.sequence < 20 && $0.sequence % 2 == 0 }
    try journal.close()
    let salvage = try Journal.salvage(folder.journal, to: folder.path + "/out")
    #expect(salvage.saved == 9 && salvage.missing == [] && salvage.losses == [])
    let again = try Journal(at: folder.path + "/out", interface: Ledger.interface())
    #expect(again.nextSequence == 41)
  }

  @Test("a journal inside a call of a damaged journal is not taken for its calls")
  func journalInJournal() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    let inner = try VersionTests.record(3, 2, [1, 2, 3])
    try Ledger.rename("first", on: journal)
    try Ledger.rename(String(repeating: "x", count: 64), on: journal)
    try Ledger.rename("last", on: journal)
    try journal.close()
    var bytes = try folder.bytes()
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("xxxx".utf8)) })
    bytes.replaceSubrange(place..<place + inner.count, with: inner)
    try folder.write(bytes)
    let salvage = try Journal.salvage(folder.journal, to: folder.path + "/out")
    #expect(salvage.saved == 2 && salvage.missing == [2...2])
  }

  @Test("a header that a disk misplaced hides no whole calls after it")
  func misplacedHeader() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    try Ledger.rename("first", on: journal)
    for number in 2...9 { try Ledger.rename("call \(number)", on: journal) }
    try Ledger.rename(String(repeating: "x", count: 200), on: journal)
    for number in 11...12 { try Ledger.rename("call \(number)", on: journal) }
    try journal.close()
    var bytes = try folder.bytes()
    let reader = try JournalReader(bytes)
    var starts: [Int] = []
    while let record = try reader.next() { starts.append(record.offset) }
    bytes.replaceSubrange(starts[2]..<starts[2] + 32, with: bytes[starts[9]..<starts[9] + 32])
    try folder.write(bytes)
    let salvage = try Journal.salvage(folder.journal, to: folder.path + "/out")
    #expect(salvage.saved == 11 && salvage.missing == [3...3])
    #expect(salvage.losses.map(\.bytes) == [starts[3] - starts[2]])
  }

  @Test("existing files are not overwritten, and a file without calls makes no journal")
  func refused() throws {
    let written = try written()
    try written.folder.write([1, 2, 3], "out")
    #expect(throws: JournalError.self) {
      try Journal.salvage(written.folder.journal, to: written.output)
    }
    #expect(try written.folder.bytes("out") == [1, 2, 3])
    try written.folder.write(Array(repeating: 7, count: 5000), "b")
    #expect(throws: JournalError.notAJournal(path: written.folder.path + "/b")) {
      try Journal.salvage(written.folder.path + "/b", to: written.folder.path + "/none")
    }
    #expect(!FileManager.default.fileExists(atPath: written.folder.path + "/none"))
  }

  @Test("a header that cannot be read is lost with the error of the disk", .seccomp)
  func unreadableHeader() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let journal = try Journal(at: folder.journal, interface: Ledger.interface())
      for number in 1...1000 { try FaultTests.send(UInt64(number), to: journal) }
      try journal.close()
      let child = Child {
        ReadFaults.refuse(0..<JournalFormat.headerSize, onlyReaders: true)
        let salvage = try Journal.salvage(folder.journal, to: "\(folder.path)/out")
        let first = salvage.losses.first
        require(first?.offset == 0, "\(salvage.losses)")
        require(first?.reason == .unreadable(code: 5), "\(salvage.losses)")
        require(salvage.saved == 1000, "\(salvage.saved)")
      }
      require(child.wait() == 0, "salvage")
      _exit(0)
    }
  }

  @Test("unreadable pages lose only the records in them", .seccomp)
  func unreadable() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let journal = try Journal(at: folder.journal, interface: Ledger.interface())
      for number in 1...1000 { try FaultTests.send(UInt64(number), to: journal) }
      try journal.close()
      let reader = try JournalReader(at: folder.journal)
      var records: [(start: Int, number: UInt64)] = []
      while let record = try reader.next() { records.append((record.offset, record.sequence)) }
      let ends = records.dropFirst().map(\.start) + [try folder.bytes().count]
      for bad in [8192..<12288, 20480..<28672, 4096..<4097, 40960..<Int.max] {
        let child = Child {
          ReadFaults.refuse(bad, onlyReaders: true)
          let output = "\(folder.path)/out\(bad.lowerBound)"
          let salvage = try Journal.salvage(folder.journal, to: output)
          let lost = zip(records, ends).filter {
            // The records in an unreadable page, or after it if nothing after it can be read.
            $0.0.start < min(bad.upperBound, 1 << 40) && $0.1 > bad.lowerBound
          }.map(\.0.number)
          let gone = Set(salvage.missing.flatMap { Array($0) })
          let tail = (bad.upperBound == .max ? Set(lost) : [])
          require(gone.union(tail).isSuperset(of: lost), "\(bad)")
          require(gone.count <= lost.count + 85, "\(bad): \(gone.count) and \(lost.count)")
          require(salvage.saved == 1000 - gone.union(tail).count, "\(bad): \(salvage.saved)")
          require(
            salvage.losses.contains { $0.reason == .unreadable(code: 5) }, "\(salvage.losses)")
        }
        require(child.wait() == 0, "\(bad)")
      }
      _exit(0)
    }
  }

  @Test("the record that a closed file ends with is no loss")
  func closed() throws {
    let folder = try Folder()
    var options = JournalOptions()
    options.sync = .group
    let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
    try Ledger.rename("1", on: journal)
    PowerCutTests.together(2, on: journal)
    try journal.close()
    let salvage = try Journal.salvage(folder.journal, to: folder.path + "/out")
    #expect(salvage.saved == 3 && salvage.losses == [] && salvage.missing == [])
  }
}
