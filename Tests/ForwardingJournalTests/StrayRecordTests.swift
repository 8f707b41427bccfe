// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

/// Reading on behind damage, also where a disk has put a part of a file over another part.
/// `JOURNAL_TRIALS` sets the number of random ones.
@Suite("Stepping over damage and stray records")
struct StrayRecordTests {
  /// A journal of calls of several sizes, with the place of each.
  private struct Written {
    let folder: Folder
    let bytes: [UInt8]
    private(set) var places: [UInt64: Range<Int>] = [:]
    private var messages: [UInt64: UInt16] = [:]
    /// The calls with the definitions of the messages.
    private var definitions: [UInt16: UInt64] = [:]

    init() throws {
      folder = try Folder()
      let journal = try Journal(at: folder.journal, interface: Ledger.interface())
      for number in 1...120 {
        if number % 7 == 0 {
          try Ledger.rename(String(repeating: "x", count: number), on: journal)
        } else {
          try FaultTests.send(UInt64(number), to: journal)
        }
      }
      try journal.close()
      bytes = try folder.bytes()
      let scanner = try JournalScanner(
        JournalWindow(JournalFile(folder.journal, O_RDONLY)))
      var position = JournalFormat.headerSize
      while let header = try scanner.recordHeader(at: position) {
        places[header.sequence] = position..<position + header.length
        messages[header.sequence] = header.message
        if header.kind == RecordKind.defining.rawValue {
          definitions[header.message] = header.sequence
        }
        position += header.length
      }
    }

    /// The numbers of the calls that are whole at their own place, and whose definition is.
    func whole(beside damage: Range<Int>) -> Set<UInt64> {
      let lost = Set(places.filter { $0.value.overlaps(damage) }.keys)
      return Set(
        places.keys.filter { number in
          !lost.contains(number) && !lost.contains(definitions[messages[number]!]!)
        })
    }
  }

  /// The records that can be read, and the places that are left out; nil if the file is none.
  private func read(
    _ bytes: [UInt8], _ written: Written
  ) throws -> (numbers: [UInt64], skipped: [Range<Int>], covered: Int)? {
    try written.folder.write(bytes)
    guard let reader = try? JournalReader(at: written.folder.journal) else { return nil }
    var (numbers, skipped, covered): ([UInt64], [Range<Int>], Int) = ([], [], 0)
    while true {
      let start = reader.offset
      if let record = try? reader.next() {
        #expect(record.offset == start)
        numbers.append(record.sequence)
        covered += reader.offset - start
        continue
      }
      guard let part = try reader.skipDamage() else {
        return (numbers, skipped, covered + bytes.count - reader.offset)
      }
      covered += part.bytes.count
      #expect(part.bytes.lowerBound >= skipped.last?.upperBound ?? 0 && !part.bytes.isEmpty)
      skipped.append(part.bytes)
    }
  }

  @Test("behind a flipped bit, all other calls are read, and the record is left out")
  func flipped() throws {
    let written = try Written()
    for number in [3, 20, 90, 119] as [UInt64] {
      let place = try #require(written.places[number])
      for index in place {
        var bytes = written.bytes
        bytes[index] ^= 1
        let found = try #require(try read(bytes, written))
        #expect(found.numbers == (1...120).filter { $0 != number }, "byte \(index)")
        #expect(found.skipped == [place], "byte \(index)")
      }
    }
    // There is nothing behind the last record, and nothing wrong in front of it.
    var bytes = written.bytes
    #expect(try read(bytes, written)?.skipped == [])
    bytes[bytes.count - 1] ^= 1
    let found = try #require(try read(bytes, written))
    #expect(found.numbers == Array(1...119) && found.skipped == [])
  }

  @Test(
    "a copy of another record hides only the call that it covers", arguments: [(20, 90), (90, 20)])
  func copied(place: UInt64, from: UInt64) throws {
    let written = try Written()
    let (to, stray) = (try #require(written.places[place]), try #require(written.places[from]))
    #expect(to.count == stray.count)
    var bytes = written.bytes
    bytes.replaceSubrange(to, with: written.bytes[stray])
    let found = try #require(try read(bytes, written))
    #expect(found.numbers == (1...120).filter { $0 != place } && found.skipped == [to])
  }

  @Test("what is neither read nor garbage is left out, and garbage loses only calls that it covers")
  func blocks() throws {
    let written = try Written()
    var random = SeededGenerator(seed: 7)
    for trial in 0..<setting("JOURNAL_TRIALS", 300) {
      let size = [16, 64, 128, 512, 1024].randomElement(using: &random)!
      let grain = [1, 8, size].randomElement(using: &random)!
      let limit = (written.bytes.count - size) / grain
      let from = Int.random(in: 0...limit, using: &random) * grain
      let to = Int.random(in: 0...limit, using: &random) * grain
      var bytes = written.bytes
      // Garbage, or another part of the file, whose records may take the places of those behind.
      let isGarbage = trial % 2 == 0
      let block =
        isGarbage
        ? (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
        : Array(written.bytes[from..<from + size])
      bytes.replaceSubrange(to..<to + size, with: block)
      guard let found = try read(bytes, written) else {
        #expect(to < JournalFormat.headerSize, "trial \(trial)")
        continue
      }
      #expect(found.numbers == found.numbers.sorted())
      #expect(Set(found.numbers).count == found.numbers.count)
      #expect(found.covered == bytes.count - JournalFormat.headerSize, "trial \(trial)")
      let lost = written.whole(beside: to..<to + size).subtracting(found.numbers)
      #expect(
        !isGarbage || lost.isEmpty, "trial \(trial): \(size) bytes at \(to) hide \(lost.sorted())")
    }
  }

  @Test(
    "rotated files that are missing, torn, or no journals are left out, and the others are read")
  func files() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    for number in 1...12 {
      try Ledger.rename("\(number)", on: journal)
      if number % 2 == 0 { try journal.rotate() }
    }
    try Ledger.rename("13", on: journal)
    try journal.close()
    func name(_ first: Int) -> String { "a.journal.00000000000\(first)" }
    try FileManager.default.removeItem(atPath: "\(folder.path)/\(name(3))")
    let whole = try folder.bytes(name(5))
    try folder.write(whole.dropLast(3), name(5))
    try folder.write(Array("text".utf8), name(7))
    try folder.write(whole, name(9))
    let reader = try JournalReader(at: folder.journal)
    var (numbers, skipped): ([UInt64], [String]) = ([], [])
    while true {
      do { while let record = try reader.next() { numbers.append(record.sequence) } } catch {}
      guard let part = try reader.skipDamage() else { break }
      skipped.append("\(part.path.suffix(2)) \(part.bytes)")
    }
    #expect(numbers == [1, 2, 5, 11, 12, 13])
    let last = whole.count - 41
    // The bytes left out of file 5 had room for record 6, but not for 7 to 10.
    #expect(
      skipped == [
        "05 0..<0", "05 \(last)..<\(whole.count - 3)", "07 0..<4", "09 0..<\(whole.count)",
        "11 0..<0",
      ])
    #expect(reader.torn == 0 && reader.offset == reader.size)
  }
}
