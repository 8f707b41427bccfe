// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Testing

/// Faulty restores: files of a journal that are missing, or have the bytes or the names of others.
/// `JOURNAL_TRIALS` sets the number of random ones.
@Suite("Misplaced files")
struct MisplacedTests {
  @Test("replaced, swapped and copied files are always reported, never written, and reading ends")
  func randomTrials() throws {
    let folder = try Folder()
    try folder.write(1...59, rotatedAfter: 10)
    let names = [1, 11, 21, 31, 41].map { Folder.rotated($0) } + ["a.journal"]
    let whole = try names.map { try folder.bytes($0) }
    var generator = SeededGenerator(seed: UInt64(setting("FORWARDING_SEED", 1)))
    var told = 0
    let trials = setting("JOURNAL_TRIALS", 300)
    for trial in 0..<trials {
      for name in try folder.files where !names.contains(name) { try folder.remove(name) }
      for (name, bytes) in zip(names, whole) { try folder.write(bytes, name) }
      var done = "trial \(trial):"
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let (one, other) = (
          names.randomElement(using: &generator)!, names.randomElement(using: &generator)!
        )
        let bytes = try (folder.bytes(one), folder.bytes(other))
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
          try folder.write(bytes.1, one)
          done += " \(other) over \(one)"
        case 1:
          try folder.write(bytes.1, one)
          try folder.write(bytes.0, other)
          done += " \(one) and \(other)"
        default:
          let name = Folder.rotated(Int.random(in: 0...70, using: &generator))
          try folder.write(bytes.0, name)
          done += " \(one) as \(name)"
        }
      }
      let now = try names.map { try folder.bytes($0) }
      if now.last != whole.last {
        #expect(throws: JournalError.self, "\(done)") { try folder.open() }
        #expect(try folder.bytes() == now.last)
      }
      do {
        let reader = try folder.reader()
        var numbers: [UInt64] = []
        while numbers.count < 200, let record = try reader.next() {
          numbers.append(record.sequence)
        }
        #expect(now == whole && numbers == Array(1...59), "\(done): \(numbers)")
      } catch { told += 1 }
    }
    #expect(told > trials / 2)
  }

  @Test("if the newest file is gone, no other one is begun in its place")
  func withoutNewest() throws {
    let folder = try Folder()
    try folder.write(1...5, rotatedAfter: 2)
    try folder.remove("a.journal")
    let rotated = "\(folder.path)/\(Folder.rotated(3))"
    for _ in 0..<2 {
      #expect(throws: JournalError.withoutNewest(path: folder.journal, rotated: rotated)) {
        try folder.open()
      }
    }
    #expect(try !folder.files.contains("a.journal"))
  }

  @Test(
    "rotated files that are missing, torn, or no journals are left out, and the others are read")
  func leftOut() throws {
    let folder = try Folder()
    try folder.write(1...15, rotatedAfter: 2)
    let whole = try folder.bytes(Folder.rotated(7))
    var flipped = try folder.bytes(Folder.rotated(1))
    let (end, last) = (flipped.count, flipped.count - 41)
    flipped[end - 1] ^= 1
    try folder.remove(Folder.rotated(5))
    for (first, bytes) in [
      (1, flipped), (7, whole.dropLast(3)), (9, Array("text".utf8)), (11, whole),
    ] { try folder.write(bytes, Folder.rotated(first)) }
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
