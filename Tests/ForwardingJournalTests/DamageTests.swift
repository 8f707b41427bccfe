// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import FuzzTargets
import Invocations
import Testing

/// Damage in one file, and reading on behind it. `JOURNAL_TRIALS` sets the number of random ones.
@Suite("Damaged files")
struct DamageTests {
  /// A journal of calls of several sizes, with the place of each.
  private struct Written {
    let folder: Folder
    let bytes: [UInt8]
    private(set) var places: [UInt64: Range<Int>] = [:]
    /// The call that defines the message of each call.
    private var definitions: [UInt64: UInt64] = [:]

    init(_ count: UInt64) throws {
      folder = try Folder()
      let journal = try folder.open()
      for number in 1...count {
        if number % 7 == 0 {
          try Ledger.rename(String(repeating: "x", count: Int(number)), on: journal)
        } else {
          try Ledger.send(number, to: journal)
        }
      }
      try journal.close()
      bytes = try folder.bytes()
      let reader = try folder.reader()
      var defining: [String: UInt64] = [:]
      while let record = try reader.next() {
        places[record.sequence] = record.offset..<reader.offset
        #expect(reader.torn == 0)
        definitions[record.sequence] = defining[record.selector] ?? record.sequence
        defining[record.selector] = definitions[record.sequence]
      }
    }

    /// The numbers of the calls that are whole at their own place, and whose definition is.
    func whole(beside damage: Range<Int>) -> [UInt64] {
      let lost = Set(places.filter { $0.value.overlaps(damage) }.keys)
      return places.keys.filter { !lost.contains($0) && !lost.contains(definitions[$0]!) }.sorted()
    }

    /// What can be read of other bytes; nil if they are no journal. All of it is read once, or named
    /// as left out.
    func read(_ bytes: [UInt8]) throws -> Reading? {
      try folder.write(bytes)
      guard let reader = try? folder.reader() else { return nil }
      let reading = try Reading(reader)
      let skipped = reading.skipped.map(\.bytes)
      #expect(zip(skipped, skipped.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
      #expect(skipped.allSatisfy { !$0.isEmpty })
      #expect(zip(reading.numbers, reading.numbers.dropFirst()).allSatisfy { $0 < $1 })
      #expect(JournalBytes.beginning().count + reading.covered == reader.offset)
      #expect(reader.offset + reader.torn == bytes.count)
      return reading
    }
  }

  @Test("a file truncated at any byte has all records before it, and continues behind them")
  func everyCut() throws {
    let written = try Written(15)
    for count in 0...written.bytes.count {
      let bytes = Array(written.bytes[..<count])
      guard let reading = try written.read(bytes) else {
        #expect(count < 32)
        continue
      }
      let whole = written.places.filter { $0.value.upperBound <= count }
      let end = whole.values.map(\.upperBound).max() ?? 32
      let next = UInt64(whole.count) + 1
      #expect(reading.numbers == Array(1..<next) && reading.failure == nil, "\(count)")
      let journal = try written.folder.open()
      #expect(journal.cut == count - end && journal.size == end && journal.nextSequence == next)
      #expect(try written.folder.bytes().count == end)
      try Ledger.rename("new", on: journal)
      #expect(try written.read(written.folder.bytes())?.numbers == Array(1...next), "\(count)")
    }
  }

  @Test(
    "a flipped bit in the last record loses it; one in front of it is damage: nothing is cut, and all other calls are read"
  )
  func everyBit() throws {
    let written = try Written(30)
    for index in written.bytes.indices {
      var bytes = written.bytes
      bytes[index] ^= 1 << UInt8(index % 8)
      guard let (number, place) = written.places.first(where: { $0.value.contains(index) }) else {
        #expect(try written.read(bytes) == nil, "the header")
        continue
      }
      let reading = try #require(try written.read(bytes))
      #expect(reading.numbers == written.whole(beside: place), "byte \(index)")
      if number == 30 {
        #expect(reading.failure == nil && reading.skipped.isEmpty, "byte \(index)")
        continue
      }
      let damage = JournalError.damaged(offset: place.lowerBound, resumes: place.upperBound)
      #expect(reading.failure == damage && reading.before == number - 1, "byte \(index)")
      #expect(reading.skipped.first?.bytes == place, "byte \(index)")
      #expect(throws: damage) { try written.folder.open() }
      #expect(try written.folder.bytes() == bytes, "nothing was changed")
    }
  }

  @Test("a gap in the sequence numbers is reported as missing records")
  func missing() throws {
    let written = try Written(10)
    let gap = try #require(written.places[4])
    let bytes = Array(written.bytes[..<gap.lowerBound]) + written.bytes[gap.upperBound...]
    let reading = try #require(try written.read(bytes))
    #expect(reading.failure == .missing(offset: gap.lowerBound, expected: 4, given: 5))
    #expect(reading.before == 3 && !reading.skipped.isEmpty)
  }

  private static let keep = try! Message<NoResult, [UInt8]>("keep:")

  @Test("arguments that look like a journal are taken for no records, torn or damaged")
  func lookalikes() throws {
    let other = try Written(4)
    // A whole journal, and headers of records of the maximum length.
    let long = JournalBytes.little(0, 4) + JournalBytes.little(16 << 20, 4)
    let header = long + JournalBytes.little(3, 8) + JournalBytes.little(0, 12)
    for argument in [other.bytes, Array(repeatElement(header, count: 5).joined())] {
      let folder = try Folder()
      var interface = Interface("keeper")
      try interface.allow(Self.keep)
      let journal = try Journal(at: folder.journal, interface: interface)
      var ends: [Int] = []
      for argument in [[1], argument, [2]] {
        try Self.keep(argument, on: journal)
        ends.append(journal.size)
      }
      try journal.close()
      var bytes = try folder.bytes()
      for count in ends[0] + 1..<ends[1] {
        try folder.write(Array(bytes[..<count]))
        let again = try folder.open()
        #expect(again.cut == count - ends[0] && again.size == ends[0] && again.nextSequence == 2)
      }
      bytes[ends[1] - 1] ^= 1
      try folder.write(bytes)
      let reading = try Reading(folder.reader())
      #expect(reading.failure == .damaged(offset: ends[0], resumes: ends[1]))
      #expect(reading.before == 1)
    }
  }

  @Test(
    "a copy of another record hides only the call that it covers", arguments: [(20, 90), (90, 20)])
  func copied(place: UInt64, from: UInt64) throws {
    let written = try Written(120)
    let (to, stray) = (try #require(written.places[place]), try #require(written.places[from]))
    #expect(to.count == stray.count)
    var bytes = written.bytes
    bytes.replaceSubrange(to, with: written.bytes[stray])
    let found = try #require(try written.read(bytes))
    #expect(found.numbers == written.whole(beside: to) && found.skipped.map(\.bytes) == [to])
  }

  @Test("what is neither read nor garbage is left out, and garbage loses only calls that it covers")
  func blocks() throws {
    let written = try Written(120)
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
      let lost = Set(written.whole(beside: to..<to + size)).subtracting(found.numbers)
      #expect(
        !isGarbage || lost.isEmpty, "trial \(trial): \(size) bytes at \(to) hide \(lost.sorted())")
    }
  }

  @Test(
    "files that were made to take much time or memory do not", .timeLimit(.minutes(5)),
    arguments: ["many headers of the same bytes", "many places", "one number", "many numbers"])
  func hostile(what: String) throws {
    let gap = [UInt8](repeating: 1, count: 8)
    let names = ["t", "put:", "v@:i"].map { Array($0.utf8) }
    let contents =
      names.flatMap { JournalBytes.little($0.count, 2) } + names.joined() + [5, 0, 0, 0]
    func record(defining message: UInt16? = nil, _ number: Int, length: Int? = nil) -> [UInt8] {
      JournalBytes.record(
        kind: message == nil ? 2 : 1, UInt64(number),
        message == nil ? (length == nil ? [5, 0, 0, 0] : []) : contents, message: message ?? 0,
        unsynced: .max, time: 1, length: length)
    }
    var bytes = JournalBytes.beginning(time: 1) + record(defining: 0, 1)
    switch what {
    case "many headers of the same bytes":
      bytes += gap
      for number in 0..<5000 { bytes += record(2 + number / 2, length: 4 << 20) }
      bytes += [UInt8](repeating: 1, count: 5 << 20)
    case "many places": for number in 2..<20_000 { bytes += gap + record(number) }
    default:
      for index in 0..<8000 {
        let message = what == "one number" ? 0 : UInt16(index) &* 5
        bytes += gap + record(defining: message, index + 2)
      }
    }
    let folder = try Folder()
    try folder.write(bytes)
    let reading = try Reading(folder.reader())
    let (records, skipped) = (reading.numbers.count, reading.skipped.count)
    switch what {
    case "many headers of the same bytes": #expect(records == 1)
    case "many places": #expect(records == 19_999 && skipped == 19_998)
    case "one number": #expect(records == 8001 && skipped >= 7999)
    default: #expect(records < 8000 && skipped >= 7999, "too high numbers are left out")
    }
  }
}
