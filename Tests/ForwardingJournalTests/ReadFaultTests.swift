// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing
import TypeEncodings

/// Disks that fail to return written bytes, or that return few of them at a time.
@Suite("Unreadable disks", .machine(.x86_64Linux), .notEmulated("no ptrace"))
struct ReadFaultTests {
  /// Unreadable pages, alone or with everything after them.
  private static let bad: [Range<Int>] = [
    0..<4096, 4096..<8192, 20480..<24576, 20480..<Int.max, 45056..<49152, 0..<Int.max,
  ]

  @Test(
    "an unreadable page is an error, after all records before it are read, and nothing is cut or begun"
  )
  func reading() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let starts = try folder.write(1...1200)
      let interface = try Ledger.interface()
      let bytes = try folder.bytes()
      for bad in ReadFaultTests.bad {
        let status = try SystemCall.trace({
          var read = 0
          do {
            let reader = try folder.reader()
            while try reader.next() != nil { read += 1 }
            require(false, "\(bad): \(read) records, and no error")
          } catch JournalError.system("read", folder.journal, EIO) {}
          // The last record ends before the first unreadable byte.
          require(read == max(0, starts.count { $0 <= bad.lowerBound } - 1), "\(bad): \(read)")
          do {
            _ = try Journal(at: folder.journal, interface: interface)
            require(false, "\(bad): it was opened")
          } catch JournalError.system("read", folder.journal, EIO) {}
        }) { call in
          guard call.number == TestMachine.numberOfRead, call.result == nil else { return .go }
          // As a disk does: up to the first unreadable byte, which is not asked for behind the end.
          let offset = Int(call.arguments[3])
          if bad.contains(offset) { return offset < bytes.count ? .fail : .go }
          return offset < bad.lowerBound ? .limit(to: bad.lowerBound - offset) : .go
        }
        require(status == 0, "\(bad)")
        require(try folder.bytes() == bytes, "\(bad): the file is another one")
        require(try folder.files == ["a.journal"])
      }
      _exit(0)
    }
  }

  @Test("a disk that returns few bytes per read is read completely", arguments: [1, 7, 100])
  func shortReads(count: Int) async {
    await #expect(processExitsWith: .success) { [count] in
      let (folder, ledger) = (try Folder(), Ledger())
      let journal = try folder.open(to: ledger)
      for number in 1...40 { try Ledger.send(UInt64(number), to: journal) }
      try journal.close()
      let status = try SystemCall.trace({
        require(try folder.replayed() == ledger)
        require(try folder.open().nextSequence == 41)
      }) { call in
        let isRead = call.number == TestMachine.numberOfRead && call.result == nil
        return isRead ? .limit(to: count) : .go
      }
      require(status == 0)
      _exit(0)
    }
  }
}
