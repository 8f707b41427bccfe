// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingWire
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("The file that a salvage makes")
struct SalvagedFileTests {
  private struct Rotated {
    let folder = Result { try Folder() }
    var journal: String { get throws { try folder.get().journal } }
    var output: String { get throws { try folder.get().path + "/out" } }

    /// Thirty calls in three files.
    init() throws {
      let journal = try Journal(at: journal, interface: Ledger.interface())
      for number in 1...30 {
        try Ledger.rename("\(number)", on: journal)
        if number % 10 == 0, number < 30 { try journal.rotate() }
      }
      try journal.close()
    }
  }

  private func numbers(_ path: String) throws -> [UInt64] {
    let reader = try JournalReader(at: path)
    var numbers: [UInt64] = []
    while let record = try reader.next() { numbers.append(record.sequence) }
    #expect(reader.tail == .whole)
    return numbers
  }

  /// A whole record of a kind with a number.
  private func record(_ kind: RecordKind, _ number: UInt64) throws -> [UInt8] {
    var writer = WireWriter(limit: 1000)
    try RecordHeader.reserve(in: &writer)
    if kind == .call { try writer.append([1, 0, 0, 0, 0x78] as [UInt8]) }
    RecordHeader(kind: kind, sequence: number, time: 1).fill(in: &writer, at: 0)
    return writer.bytes
  }

  @Test("calls from a file whose header is lost can be read in the new journal")
  func withoutHeader() throws {
    let rotated = try Rotated()
    let folder = try rotated.folder.get()
    var bytes = try folder.bytes("a.journal.000000000001")
    bytes[20] ^= 1
    try folder.write(bytes, "a.journal.000000000001")
    let salvage = try Journal.salvage(rotated.journal, to: rotated.output)
    #expect(salvage.saved == 30 && salvage.missing == [])
    #expect(try numbers(rotated.output) == Array(1...30))
    _ = try Journal(at: rotated.output, interface: Ledger.interface())
  }

  @Test("calls with lower numbers than those of the header can be read in the new journal")
  func lower() throws {
    let rotated = try Rotated()
    let folder = try rotated.folder.get()
    try FileManager.default.removeItem(atPath: folder.journal + ".000000000001")
    var bytes = try folder.bytes("a.journal.000000000011")
    bytes += try record(.call, 3)
    try folder.write(bytes, "a.journal.000000000011")
    let salvage = try Journal.salvage(rotated.journal, to: rotated.output)
    #expect(salvage.saved == 21)
    #expect(try numbers(rotated.output) == [3] + Array(11...30))
  }

  @Test(
    "a record with a number that no journal can have is a loss",
    arguments: [1 << 63, 1 << 63 + 5, .max] as [UInt64], [RecordKind.call, .mark])
  func tooLarge(number: UInt64, kind: RecordKind) throws {
    let rotated = try Rotated()
    let folder = try rotated.folder.get()
    let bytes = try folder.bytes()
    let stray = try record(kind, number)
    try folder.write(bytes + stray)
    let salvage = try Journal.salvage(rotated.journal, to: rotated.output)
    #expect(salvage.saved == 30 && salvage.missing == [])
    #expect(
      salvage.losses == [
        .init(path: folder.journal, offset: bytes.count, bytes: stray.count, reason: .damaged)
      ])
    #expect(try numbers(rotated.output) == Array(1...30))
  }

  @Test(
    "the new journal has its name only when it is whole, and no other file loses its own",
    .notEmulated("no ptrace"))
  func named() async {
    await #expect(processExitsWith: .success) {
      let rotated = try Rotated()
      let folder = try rotated.folder.get()
      let calls = try SystemCallTests.calls { begin in
        begin()
        try Journal.salvage(rotated.journal, to: rotated.output)
        _exit(0)
      }
      let name = URL(fileURLWithPath: folder.path).lastPathComponent
      require(
        calls.suffix(4) == ["fdatasync out.part", "link out.part out", "fsync \(name)", "unlink"],
        "\(calls)")
      require(!calls.contains { $0.hasSuffix(" out") && !$0.hasPrefix("link") }, "\(calls)")
      try FileManager.default.removeItem(atPath: rotated.output)
      try folder.write([1], "out.part")
      do {
        try Journal.salvage(rotated.journal, to: rotated.output)
        require(false, "another file was overwritten")
      } catch JournalError.system("opened", _, EEXIST) {}
      require(try folder.bytes("out.part") == [1])
      _exit(0)
    }
  }

  @Test("the new journal cannot have the name of a rotated file of the damaged one")
  func ownName() throws {
    let rotated = try Rotated()
    #expect(throws: JournalError.self) {
      try Journal.salvage(rotated.journal, to: rotated.journal + ".000000000099")
    }
    #expect(try numbers(rotated.journal) == Array(1...30))
  }

  @Test("a salvage of a journal that is written and rotated has all calls that were acknowledged")
  func meanwhile() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    try Ledger.rename("0", on: journal)
    let done = DispatchSemaphore(value: 0)
    Thread {
      for _ in 0..<150 {
        for _ in 0..<20 { _ = try? Ledger.rename("x", on: journal) }
        try? journal.rotate()
      }
      done.signal()
    }.start()
    var isOver = false
    while !isOver {
      isOver = done.wait(timeout: .now()) == .success
      let acknowledged = journal.nextSequence - 1
      let salvage = try Journal.salvage(folder.journal, to: folder.path + "/out")
      #expect(salvage.saved >= acknowledged && salvage.losses == [] && salvage.missing == [])
      try FileManager.default.removeItem(atPath: folder.path + "/out")
    }
    try journal.close()
  }

  @Test("a journal of more files than a process may open is salvaged")
  func manyFiles() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let journal = try Journal(at: folder.journal, interface: Ledger.interface())
      for number in 1...120 {
        try Ledger.rename("\(number)", on: journal)
        try journal.rotate()
      }
      try journal.close()
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(7), &limit)
      limit.rlim_cur = 64
      setrlimit(__rlimit_resource_t(7), &limit)
      let salvage = try Journal.salvage(folder.journal, to: folder.path + "/out")
      require(salvage.saved == 120 && salvage.files == 121 && salvage.losses == [])
      _exit(0)
    }
  }
}
