// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Testing

/// Faulty restores: files of a journal with the bytes or the names of other files. `JOURNAL_TRIALS`
/// sets the number of random ones.
@Suite("Misplaced files")
struct MisplacedTests {
  /// The names, first numbers and bytes of a journal in six files of ten records; the newest is the
  /// last.
  private struct Files {
    let folder: Folder
    let numbers: [UInt64] = [1, 11, 21, 31, 41, 51]
    let bytes: [[UInt8]]

    init() throws {
      let folder = try Folder()
      try folder.write(1...59, rotatedAfter: 10)
      self.folder = folder
      bytes = try numbers.map { try folder.bytes(Self.name(of: $0)) }
    }

    static func name(of number: UInt64) -> String {
      if number == 51 { return "a.journal" }
      let digits = "\(number)"
      return "a.journal." + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// Restores all files, and removes others.
    func restore() throws {
      for name in try folder.files {
        try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
      }
      for (number, bytes) in zip(numbers, bytes) {
        try folder.write(bytes, Self.name(of: number))
      }
    }
  }

  private enum Outcome: Equatable {
    case told
    case endless
    case read([UInt64])
  }

  /// The result of reading the files.
  private func read(_ folder: Folder) -> Outcome {
    do {
      let reader = try folder.reader()
      var numbers: [UInt64] = []
      while let record = try reader.next() {
        numbers.append(record.sequence)
        if numbers.count > 200 { return .endless }
      }
      return .read(numbers)
    } catch {
      return .told
    }
  }

  @Test("a file with the bytes of any other one is reported, and so are two swapped files")
  func allPairs() throws {
    let files = try Files()
    for (at, one) in files.numbers.enumerated() {
      for (from, other) in files.numbers.enumerated() where at != from {
        try files.restore()
        try files.folder.write(files.bytes[from], Files.name(of: one))
        #expect(read(files.folder) == .told, "\(other) over \(one)")
        if one == 51 {
          #expect(throws: JournalError.self, "\(other) over \(one)") { try files.folder.open() }
          #expect(try files.folder.bytes() == files.bytes[from])
        }
        try files.folder.write(files.bytes[at], Files.name(of: other))
        #expect(read(files.folder) == .told, "\(one) and \(other)")
      }
    }
    try files.restore()
    #expect(read(files.folder) == .read(Array(1...59)))
    // If the newest file is gone, no other one is begun in its place.
    try FileManager.default.removeItem(atPath: files.folder.journal)
    let newest = Files.name(of: 41)
    for _ in 0..<2 {
      #expect(
        throws: JournalError.withoutNewest(
          path: files.folder.journal, rotated: "\(files.folder.path)/\(newest)")
      ) { try files.folder.open() }
    }
    #expect(try !files.folder.files.contains("a.journal"))
  }

  @Test("randomly replaced, swapped and copied files are always reported, and reading always ends")
  func randomTrials() throws {
    let files = try Files()
    var generator = SeededGenerator(seed: UInt64(setting("FORWARDING_SEED", 1)))
    var told = 0
    let trials = setting("JOURNAL_TRIALS", 100)
    for trial in 0..<trials {
      try files.restore()
      var done: [String] = []
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let one = files.numbers.randomElement(using: &generator)!
        let other = files.numbers.randomElement(using: &generator)!
        let (first, second) = (Files.name(of: one), Files.name(of: other))
        let bytes = try (files.folder.bytes(first), files.folder.bytes(second))
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
          try files.folder.write(bytes.1, first)
          done.append("\(other) over \(one)")
        case 1:
          try files.folder.write(bytes.1, first)
          try files.folder.write(bytes.0, second)
          done.append("\(one) and \(other)")
        default:
          let digits = "\(UInt64.random(in: 0...70, using: &generator))"
          let name = "a.journal." + String(repeating: "0", count: 12 - digits.count) + digits
          try files.folder.write(bytes.0, name)
          done.append("\(one) as \(digits)")
        }
      }
      let now = try files.numbers.map { try files.folder.bytes(Files.name(of: $0)) }
      let outcome = read(files.folder)
      if outcome == .told {
        told += 1
        continue
      }
      #expect(
        now == files.bytes && outcome == .read(Array(1...59)),
        "trial \(trial): \(done.joined(separator: ", ")): \(outcome)")
    }
    #expect(told > trials / 2)
  }

  @Test("a symbolic link opens the journal that it leads to, through rotations")
  func links() throws {
    let folder = try Folder()
    let files = folder.path + "/files"
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: false)
    // A link to a missing file, through another link.
    #expect(symlink("files/real", folder.path + "/link") == 0)
    #expect(symlink(folder.path + "/link", folder.journal) == 0)
    let journal = try folder.open()
    try Ledger.rename("1", on: journal)
    try journal.rotate()
    try Ledger.rename("2", on: journal)
    try Ledger.rename("3", on: journal)
    for path in [folder.journal, files + "/real"] {
      #expect(throws: JournalError.self, "a second writer") {
        try Journal(at: path, interface: Ledger.interface())
      }
      let ledger = Ledger()
      try JournalReader(at: path).replay(Ledger.interface(), into: ledger)
      #expect(ledger.names == ["1", "2", "3"])
    }
    try journal.close()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: files).sorted()
        == ["real", "real.000000000001"])
  }
}
