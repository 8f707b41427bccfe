// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

/// The system calls of a journal, one by one.
@Suite("System calls", .notEmulated("no ptrace"))
struct SystemCallTests {
  /// The system calls of a part of a program in the order of their calls, such as "write
  /// a.journal".
  ///
  /// `body` calls the function that it is given where that part begins.
  static func calls(_ body: (() -> Void) throws -> Void) throws -> [String] {
    let hasBegun = SharedNumbers(count: 1)
    var calls: [String] = []
    let status = try SystemCall.trace({ try body { hasBegun[0] = 1 } }) { call in
      guard hasBegun[0] == 1, call.result == nil else { return true }
      switch call.name {
      case "other", "open", "flock": break
      case "rename", "link":
        let paths = call.text(0).isEmpty ? [1, 3] : [0, 1]
        let names = paths.map { URL(fileURLWithPath: call.text($0)).lastPathComponent }
        calls.append("\(call.name) \(names[0]) \(names[1])")
      case "unlink": calls.append("unlink")
      default: calls.append("\(call.name) \(call.file)")
      }
      return true
    }
    require(status == 0, "the child ended with \(status)")
    return calls
  }

  @Test("a record is exactly one write, with or without the definition of its message")
  func oneWrite() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      for moment in [JournalOptions.Moment.before, .afterwards] {
        let folder = try Folder()
        var options = JournalOptions()
        options.moment = moment
        let calls = try SystemCallTests.calls { begin in
          let journal = try Journal(at: folder.journal, interface: interface, to: Ledger(), options)
          begin()
          for number in 1...20 { try FaultTests.send(UInt64(number), to: journal) }
          try Ledger.rename(String(repeating: "long ", count: 100_000), on: journal)
          _exit(0)
        }
        require(calls == Array(repeating: "write a.journal", count: 21), "\(calls)")
        let reader = try JournalReader(at: folder.journal)
        var count = 0
        while try reader.next() != nil { count += 1 }
        require(count == 21 && reader.tail == .whole)
      }
      _exit(0)
    }
  }

  @Test(
    "a synced record is one write and one sync; the first one also preallocates zeros")
  func oneWait() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      for sync in [JournalOptions.Sync.each, .group] {
        let folder = try Folder()
        var options = JournalOptions()
        options.sync = sync
        let calls = try SystemCallTests.calls { begin in
          let journal = try Journal(at: folder.journal, interface: interface, options)
          begin()
          for number in 1...5 { try FaultTests.send(UInt64(number), to: journal) }
          _exit(0)
        }
        let record = ["write a.journal", "fdatasync a.journal"]
        require(calls == ["write a.journal"] + (1...5).flatMap { _ in record }, "\(calls)")
      }
      _exit(0)
    }
  }

  @Test(
    "the name of a file is synced before its first record, and a new file too if calls are synced")
  func opening() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      for sync in [JournalOptions.Sync.never, .each, .group] {
        let folder = try Folder()
        var options = JournalOptions()
        options.sync = sync
        let name = URL(fileURLWithPath: folder.path).lastPathComponent
        let synced = sync == .never ? [] : ["fdatasync a.journal"]
        let new =
          ["ftruncate a.journal.creating~", "write a.journal.creating~"]
          + (sync == .never ? [] : ["fdatasync a.journal.creating~"])
          + ["rename a.journal.creating~ a.journal"]
        // The process that created the file may have died before the file and its name were
        // synced, so they are synced again.
        for before in [new, synced] {
          let calls = try SystemCallTests.calls { begin in
            begin()
            let journal = try Journal(at: folder.journal, interface: interface, options)
            withExtendedLifetime(journal) { _exit(0) }
          }
          require(calls == before + ["fsync \(name)"], "\(sync): \(calls)")
        }
      }
      _exit(0)
    }
  }

  @Test("the rotated file, the new file, and both names are synced in this order")
  func rotation() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      let folder = try Folder()
      let calls = try SystemCallTests.calls { begin in
        let journal = try Journal(at: folder.journal, interface: interface)
        try FaultTests.send(1, to: journal)
        begin()
        try journal.rotate()
        _exit(0)
      }
      require(
        calls == [
          "fdatasync a.journal", "ftruncate a.journal.rotating~", "write a.journal.rotating~",
          "fdatasync a.journal.rotating~", "link a.journal a.journal.000000000001",
          "fsync \(URL(fileURLWithPath: folder.path).lastPathComponent)",
          "rename a.journal.rotating~ a.journal",
          "fsync \(URL(fileURLWithPath: folder.path).lastPathComponent)",
        ], "\(calls)")
      _exit(0)
    }
  }

  @Test("a compacted file is synced before it replaces the old one, and then its name is synced")
  func compaction() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      let folder = try Folder()
      let calls = try SystemCallTests.calls { begin in
        let journal = try Journal(at: folder.journal, interface: interface)
        for number in 1...3 { try FaultTests.send(UInt64(number), to: journal) }
        begin()
        try journal.compact { $0.sequence != 2 }
        _exit(0)
      }
      let last = calls.lastIndex { $0.hasPrefix("write") } ?? 0
      require(calls[last] == "write a.journal.compacting~", "\(calls)")
      require(
        calls[(last + 1)...] == [
          "fdatasync a.journal.compacting~", "fdatasync a.journal.compacting~",
          "rename a.journal.compacting~ a.journal",
          "fsync \(URL(fileURLWithPath: folder.path).lastPathComponent)",
        ], "\(calls)")
      _exit(0)
    }
  }

  @Test("at every moment of a rotation and a compaction, the whole journal can be read at its path")
  func everyMoment() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      let folder = try Folder()
      let isOpen = SharedNumbers(count: 1)
      var stops = 0
      let status = try SystemCall.trace({
        let journal = try Journal(at: folder.journal, interface: interface)
        for number in 1...5 { try Ledger.rename("\(number)", on: journal) }
        isOpen[0] = 1
        try journal.rotate()
        try Ledger.rename("6", on: journal)
        isOpen[0] = 2
        try journal.compact { _ in true }
        isOpen[0] = 0
      }) { _ in
        guard isOpen[0] > 0 else { return true }
        stops += 1
        require(access(folder.journal, F_OK) == 0, "there is no file after \(stops) stops")
        let ledger = Ledger()
        try JournalReader(at: folder.journal).replay(interface, into: ledger)
        let whole = (1...(isOpen[0] == 1 ? 5 : 6)).map { "\($0)" }
        // The sixth record may be there or not.
        require(
          ledger.names == whole || isOpen[0] == 1 && ledger.names == whole + ["6"],
          "\(ledger.names)")
        return true
      }
      require(status == 0 && stops > 40, "\(status) after \(stops) stops")
      _exit(0)
    }
  }
}
