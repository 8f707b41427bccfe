// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

/// Disks that fail to return written bytes. The system itself returns the errors.
@Suite("Unreadable disks")
struct ReadFaultTests {
  /// Writes a journal of a thousand calls. Returns the offset of each record.
  @Sendable
  private static func write(_ folder: Folder) throws -> [Int] {
    let journal = try Journal(at: folder.journal, interface: Ledger.interface())
    for number in 1...1000 { try FaultTests.send(UInt64(number), to: journal) }
    try journal.close()
    let reader = try JournalReader(at: folder.journal)
    var starts: [Int] = []
    while let record = try reader.next() { starts.append(record.offset) }
    require(starts.count == 1000)
    return starts
  }

  /// Unreadable pages, alone or with everything after them.
  private static let bad: [Range<Int>] = [
    0..<4096, 4096..<8192, 20480..<24576, 20480..<Int.max, 45056..<49152, 0..<Int.max,
  ]

  @Test(
    "an unreadable page is an error, after all records before it are read, and nothing is cut or begun",
    .seccomp)
  func reading() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let starts = try ReadFaultTests.write(folder)
      let interface = try Ledger.interface()
      let bytes = try folder.bytes()
      for bad in ReadFaultTests.bad {
        let child = Child {
          ReadFaults.refuse(bad)
          var read = 0
          do {
            let reader = try JournalReader(at: folder.journal)
            while try reader.next() != nil { read += 1 }
            require(false, "\(bad): \(read) records, and no error")
          } catch JournalError.system("read", folder.journal, EIO) {}
          // The last record ends before the first unreadable byte.
          require(read == max(0, starts.count { $0 <= bad.lowerBound } - 1), "\(bad): \(read)")
          do {
            _ = try Journal(at: folder.journal, interface: interface)
            require(false, "\(bad): it was opened")
          } catch JournalError.system("read", folder.journal, EIO) {}
        }
        require(child.wait() == 0, "\(bad)")
        require(try folder.bytes() == bytes, "\(bad): the file is another one")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        require(names == ["a.journal"], "\(names)")
      }
      _exit(0)
    }
  }

  @Test(
    "a disk that returns few bytes per read is read completely", .seccomp,
    arguments: [1, 7, 100])
  func shortReads(count: Int) async {
    await #expect(processExitsWith: .success) { [count] in
      let folder = try Folder()
      let interface = try Ledger.interface()
      let ledger = Ledger()
      let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
      for number in 1...40 { try FaultTests.send(UInt64(number), to: journal) }
      try journal.close()
      let child = Child {
        ReadFaults.refuse(Int.max..<Int.max, atMost: count)
        let other = Ledger()
        try JournalReader(at: folder.journal).replay(interface, into: other)
        require(other == ledger)
        require(try Journal(at: folder.journal, interface: interface).nextSequence == 41)
      }
      require(child.wait() == 0)
      _exit(0)
    }
  }
}
