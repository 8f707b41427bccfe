// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import Testing

/// Files that were made to take much time or memory.
@Suite("Hostile files", .timeLimit(.minutes(5)))
struct HostileFileTests {
  private func record(defining message: UInt16, _ number: UInt64) -> [UInt8] {
    let names = ["t", "put:", "v@:i"].map { Array($0.utf8) }
    let contents =
      names.flatMap { JournalBytes.little($0.count, 2) } + names.joined() + [5, 0, 0, 0]
    return JournalBytes.record(
      kind: 1, number, contents, message: message, unsynced: .max, time: 1)
  }

  private func call(_ number: UInt64, length: Int? = nil) -> [UInt8] {
    JournalBytes.record(
      kind: 2, number, length == nil ? [5, 0, 0, 0] : [], unsynced: .max, time: 1, length: length)
  }

  private var beginning: [UInt8] { JournalBytes.beginning(time: 1) + record(defining: 0, 1) }

  private func read(_ bytes: [UInt8]) throws -> (records: Int, skipped: Int) {
    let folder = try Folder()
    try folder.write(bytes)
    let reading = try Reading(folder.reader())
    return (reading.numbers.count, reading.skipped.count)
  }

  private let gap = [UInt8](repeating: 1, count: 8)

  @Test("the same bytes are not checksummed for each of many headers")
  func overlapping() throws {
    var bytes = beginning + gap
    for number in 0..<5000 as Range<UInt64> { bytes += call(2 + number / 2, length: 4 << 20) }
    #expect(try read(bytes + [UInt8](repeating: 1, count: 5 << 20)).records == 1)
  }

  @Test("many definitions take memory once, and those with too high numbers are left out")
  func definitions() throws {
    for haveOneNumber in [false, true] {
      var bytes = beginning
      for index in 0..<8000 as Range<UInt16> {
        bytes += gap + record(defining: haveOneNumber ? 0 : index &* 5, UInt64(index) + 2)
      }
      let (records, skipped) = try read(bytes)
      #expect(haveOneNumber ? records == 8001 : records < 8000)
      #expect(skipped >= 7999)
    }
  }

  @Test("many damaged places in a small file take a time that grows with its size")
  func many() throws {
    var bytes = beginning
    for number in 2..<20_000 as Range<UInt64> { bytes += gap + call(number) }
    #expect(try read(bytes) == (19_999, 19_998))
  }
}
