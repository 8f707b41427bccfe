// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingWire
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("Acknowledged calls, and what later openings do with them")
struct AcknowledgedTests {
  /// The offset of each record of a file.
  private func starts(_ bytes: [UInt8]) throws -> [Int] {
    let reader = try JournalReader(bytes)
    var starts: [Int] = []
    while let record = try reader.next() { starts.append(record.offset) }
    return starts
  }

  @Test(
    "the calls of processes that wrote one each, and never closed the file, are damaged and not torn",
    arguments: [JournalOptions.Sync.each, .group])
  func released(sync: JournalOptions.Sync) throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    var options = JournalOptions()
    options.sync = sync
    for number in 1...40 {
      var journal: Journal?
      // The last thread of the journal before may be about to release it.
      while journal == nil {
        journal = try? Journal(at: folder.journal, interface: interface, options)
      }
      try Ledger.rename("\(number)", on: journal!)
    }
    let bytes = try folder.bytes()
    let starts = try starts(bytes)
    #expect(starts.count == 40)
    // A sector of zeros, as after a power cut, and a flipped bit.
    for index in 1..<30 {
      for isZero in [true, false] {
        var other = bytes
        if isZero {
          for place in PowerCutTests.sectors(of: starts[index]..<starts[39])[0] { other[place] = 0 }
        } else {
          other[starts[index] + 33] ^= 1
        }
        try folder.write(other)
        #expect(throws: JournalError.self, "record \(index + 1)") {
          try Journal(at: folder.journal, interface: interface, options)
        }
        #expect(try folder.bytes() == other)
      }
    }
  }

  @Test(
    "the last group, which no later record testifies for, is written again by an opening",
    .notEmulated("no ptrace"))
  func writtenAgain() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      var options = JournalOptions()
      options.sync = .group
      let interface = try Ledger.interface()
      var bytes: [UInt8] = []
      do {
        let journal = try Journal(at: folder.journal, interface: interface, options)
        for number in 1...3 { try Ledger.rename("\(number)", on: journal) }
        PowerCutTests.together(3, on: journal)
        bytes = try folder.bytes()
        try journal.close()
      }
      try folder.write(bytes)
      let calls = try SystemCallTests.calls { begin in
        begin()
        let journal = try Journal(at: folder.journal, interface: interface, options)
        withExtendedLifetime(journal) { _exit(0) }
      }
      require(calls.prefix(2) == ["write a.journal", "fdatasync a.journal"], "\(calls)")
      require(try folder.bytes() == bytes)
      _exit(0)
    }
  }

  @Test("an error of the size is no end: nothing is cut, and nothing is begun", .seccomp)
  func sizes() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let interface = try Ledger.interface()
      let journal = try Journal(at: folder.journal, interface: interface)
      for number in 1...1000 { try FaultTests.send(UInt64(number), to: journal) }
      try journal.close()
      let bytes = try folder.bytes()
      let reader = try JournalReader(at: folder.journal)
      let child = Child {
        SystemCall.refuse(TestMachine.numberOfFacts)
        do {
          _ = try Journal(at: folder.journal, interface: interface)
          require(false, "it was opened")
        } catch JournalError.system(_, folder.journal, EIO) {}
        do {
          while try reader.next() != nil {}
          require(false, "the end was reported")
        } catch JournalError.system("read", folder.journal, EIO) {}
      }
      require(child.wait() == 0)
      require(try folder.bytes() == bytes)
      _exit(0)
    }
  }

  @Test("a file that is truncated while it is written is displaced at the next call")
  func truncated() throws {
    for sync in [JournalOptions.Sync.never, .each, .group] {
      let folder = try Folder()
      var options = JournalOptions()
      options.sync = sync
      let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
      for number in 1...5 { try Ledger.rename("\(number)", on: journal) }
      #expect(truncate(folder.journal, 0) == 0)
      usleep(11_000)
      #expect(throws: JournalError.displaced(path: folder.journal), "\(sync)") {
        try Ledger.rename("6", on: journal)
      }
      #expect(throws: JournalError.closed(path: folder.journal)) {
        try Ledger.rename("7", on: journal)
      }
    }
  }

  @Test("the beginning of a header is torn, and not a new file")
  func beginnings() throws {
    let folder = try Folder()
    let interface = try Ledger.interface()
    try Journal(at: folder.journal, interface: interface).close()
    let bytes = try folder.bytes()
    for count in 1..<32 {
      try folder.write(Array(bytes[..<count]))
      let journal = try Journal(at: folder.journal, interface: interface)
      #expect(journal.cut == .torn(offset: 0, bytes: count) && journal.nextSequence == 1)
      try journal.close()
    }
  }

  @Test("a sync beside the one in progress does not acknowledge the calls of others", .seccomp)
  func besideAnother() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      var options = JournalOptions()
      options.sync = .group
      options.rotation = 4096
      let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
      for number in 1...3 { try Ledger.rename("\(number)", on: journal) }
      // Simulates another thread that waits for the disk.
      journal.state.announce { $0.isSyncing = true }
      Thread { _ = try? Ledger.rename("4", on: journal) }.start()
      while journal.nextSequence < 5 { usleep(100) }
      SystemCall.limitFiles(to: try folder.bytes().count + 20)
      SystemCall.refuse(TestMachine.numberOfCut)
      let text = String(repeating: "x", count: 5000)
      do {
        try Ledger.rename(text, on: journal)
        require(false, "the call was acknowledged")
      } catch JournalError.system("cut", folder.journal, EIO) {}
      require(journal.state.withLock { $0.synced } == 4)
      _exit(0)
    }
  }

  @Test("a task whose record a failed write has synced is resumed", .seccomp)
  func syncedByFailure() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      var options = JournalOptions()
      options.sync = .group
      options.rotation = 4096
      let note = try AsyncMessage<NoResult, String>("note:")
      var interface = try Ledger.interface()
      try interface.allow(note)
      let journal = try Journal(at: folder.journal, interface: interface, options)
      for number in 1...3 { try Ledger.rename("\(number)", on: journal) }
      // The thread of the journal is busy, so that it cannot sync for the task.
      let gate = DispatchSemaphore(value: 0)
      let busy = Task {
        try await journal.state.perform { () throws(JournalError) in
          _ = gate.wait(timeout: .now() + 600)
        }
      }
      let task = Task { try await note("4", on: journal) }
      while journal.state.withLock({ $0.suspended.isEmpty }) {
        try await Task.sleep(for: .milliseconds(1))
      }
      SystemCall.limitFiles(to: try folder.bytes().count + 20)
      SystemCall.refuse(TestMachine.numberOfCut)
      do {
        try Ledger.rename(String(repeating: "x", count: 5000), on: journal)
        require(false, "the call was acknowledged")
      } catch JournalError.system("cut", folder.journal, EIO) {}
      require(journal.state.withLock { $0.synced } == 5)
      gate.signal()
      _ = try await task.value
      try await busy.value
      _exit(0)
    }
  }
}
