// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

/// Disks that have put a part of a file over another part. `JOURNAL_TRIALS` sets the number of
/// random ones.
@Suite("Salvage of calls around stray records")
struct StrayRecordTests {
  /// A journal of calls of several sizes, with the place of each.
  private struct Written {
    let folder: Folder
    let bytes: [UInt8]
    let places: [UInt64: Range<Int>]
    /// The place of each definition, with the calls that need it.
    let definitions: [(place: Range<Int>, message: UInt16)]
    let messages: [UInt64: UInt16]

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
      let window = JournalWindow(try JournalFile(folder.journal, for: .reading))
      var (position, places) = (JournalFormat.headerSize, [UInt64: Range<Int>]())
      var (definitions, messages) = ([(Range<Int>, UInt16)](), [UInt64: UInt16]())
      while let header = try window.headerAlone(at: position) {
        let place = position..<position + header.length
        switch RecordKind(rawValue: header.kind) {
        case .definition: definitions.append((place, header.message))
        case .call, .outcome:
          (places[header.sequence], messages[header.sequence]) = (place, header.message)
        default: break
        }
        position = place.upperBound
      }
      self.definitions = definitions.map { (place: $0.0, message: $0.1) }
      (self.places, self.messages) = (places, messages)
    }

    /// The numbers of the calls that are whole at their own place, and whose definition is.
    func whole(beside damage: Range<Int>) -> Set<UInt64> {
      let lost = Set(definitions.filter { $0.place.overlaps(damage) }.map(\.message))
      return Set(
        places.filter { !$0.value.overlaps(damage) && !lost.contains(messages[$0.key] ?? 0) }
          .map(\.key))
    }

    /// The numbers of the calls that a salvage finds; nil for a file of a later release.
    func salvaged(_ bytes: [UInt8]) throws -> [UInt64]? {
      let output = folder.path + "/out"
      try? FileManager.default.removeItem(atPath: output)
      try folder.write(bytes)
      do throws(JournalError) { try Journal.salvage(folder.journal, to: output) } catch {
        switch error {
        // Without a definition there is no whole call.
        case .notAJournal: return []
        // A damaged version or flag cannot be told from one of a later release.
        case .newerVersion, .unknownFlags: return nil
        default: throw error
        }
      }
      let reader = try JournalReader(at: output)
      var numbers: [UInt64] = []
      while let record = try reader.next() { numbers.append(record.sequence) }
      return numbers
    }
  }

  @Test("a copy of a later record in front of others hides none of them")
  func later() throws {
    let written = try Written()
    let stray = try #require(written.places[90])
    // Records 20 and 21 have the size of record 90.
    let place = try #require(written.places[20])
    #expect(place.count == stray.count)
    var bytes = written.bytes
    bytes.replaceSubrange(place, with: written.bytes[stray])
    #expect(try written.salvaged(bytes) == (1...120).filter { $0 != 20 })
  }

  @Test("a copy of earlier records behind them is reported, and copied once")
  func earlier() throws {
    let written = try Written()
    let stray = try #require(written.places[20])
    let place = try #require(written.places[90])
    var bytes = written.bytes
    bytes.replaceSubrange(place, with: written.bytes[stray])
    #expect(try written.salvaged(bytes) == (1...120).filter { $0 != 90 })
    let output = written.folder.path + "/again"
    let salvage = try Journal.salvage(written.folder.journal, to: output)
    #expect(salvage.losses.map(\.reason) == [.repeated] && salvage.missing == [90...90])
  }

  @Test("a stray record that ends where the call behind it does hides no call")
  func sameEnd() throws {
    let written = try Written()
    // Call 118 as a whole, and the beginning of call 119, whose end would be that of call 41.
    let (whole, cut) = (try #require(written.places[118]), try #require(written.places[119]))
    let covered = try #require(written.places[41])
    let place = covered.upperBound - cut.count - whole.count..<covered.lowerBound
    let stray = whole.lowerBound..<whole.lowerBound + place.count
    var bytes = written.bytes
    bytes.replaceSubrange(place, with: written.bytes[stray])
    let saved = try #require(try written.salvaged(bytes))
    #expect(saved.contains(41))
    #expect(written.whole(beside: place).isSubset(of: saved))
  }

  @Test("two records that a disk has exchanged are both saved, in order")
  func exchanged() throws {
    let written = try Written()
    let (one, other) = (try #require(written.places[20]), try #require(written.places[90]))
    var bytes = written.bytes
    bytes.replaceSubrange(one, with: written.bytes[other])
    bytes.replaceSubrange(other, with: written.bytes[one])
    #expect(try written.salvaged(bytes) == Array(1...120))
  }

  @Test("blocks copied over others lose only calls that they cover")
  func blocks() throws {
    let written = try Written()
    var random = SeededGenerator(seed: 7)
    let trials = ProcessInfo.processInfo.environment["JOURNAL_TRIALS"].flatMap(Int.init) ?? 200
    for trial in 0..<trials {
      let size = [16, 64, 128, 512, 1024].randomElement(using: &random)!
      let grain = [1, 8, size].randomElement(using: &random)!
      let limit = (written.bytes.count - size) / grain
      let from = Int.random(in: 0...limit, using: &random) * grain
      let to = Int.random(in: 0...limit, using: &random) * grain
      var bytes = written.bytes
      bytes.replaceSubrange(to..<to + size, with: written.bytes[from..<from + size])
      guard let saved = try written.salvaged(bytes) else {
        #expect(to < JournalFormat.headerSize, "trial \(trial)")
        continue
      }
      #expect(saved == saved.sorted() && Set(saved).count == saved.count)
      let lost = written.whole(beside: to..<to + size).subtracting(saved)
      #expect(
        lost.isEmpty, "trial \(trial): \(size) bytes from \(from) to \(to) hide \(lost.sorted())")
    }
  }
}
