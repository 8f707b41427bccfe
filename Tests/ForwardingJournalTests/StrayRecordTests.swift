// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Testing

/// Reading on behind damage, also where a disk has put a part of a file over another part.
/// `JOURNAL_TRIALS` sets the number of random ones.
@Suite("Stepping over damage and stray records")
struct StrayRecordTests {
  /// A journal of calls of several sizes, with the place of each.
  private struct Written {
    let folder: Folder
    let bytes: [UInt8]
    private(set) var places: [UInt64: Range<Int>] = [:]
    /// The call that defines the message of each call.
    private var definitions: [UInt64: UInt64] = [:]

    init() throws {
      folder = try Folder()
      let journal = try folder.open()
      for number in 1...120 {
        if number % 7 == 0 {
          try Ledger.rename(String(repeating: "x", count: number), on: journal)
        } else {
          try Ledger.send(UInt64(number), to: journal)
        }
      }
      try journal.close()
      bytes = try folder.bytes()
      let reader = try folder.reader()
      var defining: [String: UInt64] = [:]
      while let record = try reader.next() {
        places[record.sequence] = record.offset..<reader.offset
        definitions[record.sequence] = defining[record.selector] ?? record.sequence
        defining[record.selector] = definitions[record.sequence]
      }
    }

    /// The numbers of the calls that are whole at their own place, and whose definition is.
    func whole(beside damage: Range<Int>) -> Set<UInt64> {
      let lost = Set(places.filter { $0.value.overlaps(damage) }.keys)
      return Set(
        places.keys.filter { !lost.contains($0) && !lost.contains(definitions[$0]!) })
    }

    /// What can be read of other bytes; nil if they are no journal.
    func read(_ bytes: [UInt8]) throws -> (numbers: [UInt64], skipped: [Range<Int>])? {
      try folder.write(bytes)
      guard let reader = try? folder.reader() else { return nil }
      let reading = try Reading(reader)
      let skipped = reading.skipped.map(\.bytes)
      #expect(zip(skipped, skipped.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
      #expect(skipped.allSatisfy { !$0.isEmpty })
      #expect(JournalBytes.beginning().count + reading.covered == reader.offset)
      return (reading.numbers, skipped)
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
        let found = try #require(try written.read(bytes))
        #expect(found.numbers == (1...120).filter { $0 != number }, "byte \(index)")
        #expect(found.skipped == [place], "byte \(index)")
      }
    }
    // There is nothing behind the last record, and nothing wrong in front of it.
    var bytes = written.bytes
    #expect(try written.read(bytes)?.skipped == [])
    bytes[bytes.count - 1] ^= 1
    let found = try #require(try written.read(bytes))
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
    let found = try #require(try written.read(bytes))
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
      guard let found = try written.read(bytes) else {
        #expect(to < JournalBytes.beginning().count, "trial \(trial)")
        continue
      }
      #expect(found.numbers == found.numbers.sorted())
      #expect(Set(found.numbers).count == found.numbers.count)
      let lost = written.whole(beside: to..<to + size).subtracting(found.numbers)
      #expect(
        !isGarbage || lost.isEmpty, "trial \(trial): \(size) bytes at \(to) hide \(lost.sorted())")
    }
  }

  @Test(
    "rotated files that are missing, torn, or no journals are left out, and the others are read")
  func files() throws {
    let folder = try Folder()
    try folder.write(1...15, rotatedAfter: 2)
    func name(_ first: Int) -> String { "a.journal.0000000000\(first < 10 ? "0" : "")\(first)" }
    let whole = try folder.bytes(name(7))
    var flipped = try folder.bytes(name(1))
    let (end, last) = (flipped.count, flipped.count - 41)
    flipped[end - 1] ^= 1
    try folder.write(flipped, name(1))
    try FileManager.default.removeItem(atPath: "\(folder.path)/\(name(5))")
    try folder.write(whole.dropLast(3), name(7))
    try folder.write(Array("text".utf8), name(9))
    try folder.write(whole, name(11))
    let reader = try folder.reader()
    let reading = try Reading(reader)
    #expect(reading.numbers == [1, 3, 4, 7, 13, 14, 15])
    // The bytes left out of files 1 and 7 had room for one record, but not for 9 to 12.
    #expect(
      reading.skipped.map { "\($0.path.suffix(2)) \($0.bytes)" } == [
        "01 \(last)..<\(end)", "07 0..<0", "07 \(last)..<\(end - 3)", "09 0..<4", "11 0..<\(end)",
        "13 0..<0",
      ])
    #expect(reader.torn == 0 && reader.offset == reader.size)
  }
}
