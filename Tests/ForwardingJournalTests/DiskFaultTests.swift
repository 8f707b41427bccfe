// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing

/// Disks that fail. The system itself returns the errors.
@Suite("Failing disks")
struct DiskFaultTests {
  /// Runs a part of a test in a child process, whose faults end with it.
  @Sendable
  private static func inChild(_ what: String, _ body: () throws -> Void) {
    let status = Child(body).wait()
    require(status == 0, "\(what): \(status)")
  }

  /// The expected ledger after the calls with these numbers.
  @Sendable
  private static func model(_ numbers: ClosedRange<UInt64>) throws -> Ledger {
    let ledger = Ledger()
    for number in numbers { try FaultTests.send(number, to: ledger) }
    return ledger
  }

  @Sendable
  private static func requireClosed(_ journal: Journal) throws {
    let closed = JournalError.closed(path: journal.path)
    for refused in [
      { try FaultTests.send(9, to: journal) }, { try journal.rotate() },
      { try journal.compact { _ in true } },
    ] as [() throws -> Void] {
      do {
        try refused()
        require(false, "the journal goes on")
      } catch { require(error as? JournalError == closed, "\(error)") }
    }
  }

  @Test("a journal whose sync of a record fails is closed, and the call is not made", .seccomp)
  func failedSync() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      for sync in [JournalOptions.Sync.each, .group] {
        let folder = try Folder()
        DiskFaultTests.inChild("\(sync)") {
          var options = JournalOptions()
          options.sync = sync
          let ledger = Ledger()
          let journal = try Journal(at: folder.journal, interface: interface, to: ledger, options)
          try FaultTests.send(1, to: journal)
          SystemCall.refuse(TestMachine.numberOfDataSync)
          do {
            try FaultTests.send(2, to: journal)
            require(false, "the call was acknowledged")
          } catch JournalError.system("synchronized", folder.journal, EIO) {}
          try DiskFaultTests.requireClosed(journal)
          do {
            try journal.sync()
            require(false, "nobody was told")
          } catch JournalError.closed {}
          require(try ledger == DiskFaultTests.model(1...1), "the call was made")
          // Another journal can continue, with the record that may be on the disk.
          let again = try Journal(at: folder.journal, interface: interface)
          require(again.nextSequence == 3)
        }
      }
      _exit(0)
    }
  }

  @Test("threads that share a failing sync are not acknowledged, and all get an error", .seccomp)
  func failedGroup() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      let folder = try Folder()
      DiskFaultTests.inChild("group") {
        var options = JournalOptions()
        options.sync = .group
        let ledger = Ledger()
        let journal = try Journal(at: folder.journal, interface: interface, to: ledger, options)
        SystemCall.refuse(TestMachine.numberOfDataSync)
        let done = DispatchSemaphore(value: 0)
        for thread in 0..<4 {
          Thread {
            while (try? Ledger.rename("\(thread)", on: journal)) != nil {}
            done.signal()
          }.start()
        }
        for _ in 0..<4 { done.wait() }
        require(ledger.names == [], "\(ledger.names)")
        try DiskFaultTests.requireClosed(journal)
      }
      _exit(0)
    }
  }

  @Test("the first close of a journal throws the error of a disk that failed before", .seccomp)
  func failedBeforeClose() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      for sync in [JournalOptions.Sync.each, .group, .never] {
        let folder = try Folder()
        DiskFaultTests.inChild("\(sync)") {
          var options = JournalOptions()
          options.sync = sync
          let journal = try Journal(at: folder.journal, interface: interface, options)
          SystemCall.refuse(TestMachine.numberOfDataSync)
          require((try? FaultTests.send(1, to: journal)) != nil || sync != .never)
          for isFirst in [true, false] {
            do {
              try journal.close()
              require(!isFirst, "nobody was told")
            } catch JournalError.system("synchronized", folder.journal, EIO) { require(isFirst) }
          }
        }
      }
      _exit(0)
    }
  }

  /// Operations on a journal of five calls, the system call that fails, and whether that closes the
  /// journal.
  private static let doings:
    [(name: String, refused: UInt32, closes: Bool, body: @Sendable (Journal) throws -> Void)] = [
      ("sync", TestMachine.numberOfDataSync, true, { try $0.sync() }),
      ("close", TestMachine.numberOfDataSync, true, { try $0.close() }),
      ("rotate", TestMachine.numberOfDataSync, true, { try $0.rotate() }),
      ("compact", TestMachine.numberOfDataSync, false, { try $0.compact { _ in true } }),
      ("rotate", TestMachine.numberOfFolderSync, false, { try $0.rotate() }),
      ("compact", TestMachine.numberOfFolderSync, true, { try $0.compact { _ in true } }),
    ]

  @Test("an operation whose sync fails closes the journal, unless its file is unchanged", .seccomp)
  func failedDoings() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      for (name, refused, closes, body) in DiskFaultTests.doings {
        let folder = try Folder()
        DiskFaultTests.inChild(name) {
          let journal = try Journal(at: folder.journal, interface: interface)
          for number in 1...5 { try FaultTests.send(UInt64(number), to: journal) }
          SystemCall.refuse(refused)
          do {
            try body(journal)
            require(false, "nobody was told")
          } catch JournalError.system("synchronized", _, EIO) {}
          if closes { return try DiskFaultTests.requireClosed(journal) }
          let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
          require(names == ["a.journal"], "\(names)")
          try FaultTests.send(6, to: journal)
          _exit(0)
        }
        let ledger = Ledger()
        try JournalReader(at: folder.journal).replay(interface, into: ledger)
        require(try ledger == DiskFaultTests.model(1...(closes ? 5 : 6)), name)
        try Journal(at: folder.journal, interface: interface).close()
      }
      _exit(0)
    }
  }

  @Test("a file is not begun if its name cannot be synced", .seccomp)
  func failedFolder() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      let folder = try Folder()
      SystemCall.refuse(TestMachine.numberOfFolderSync)
      for _ in 0..<2 {
        do {
          _ = try Journal(at: folder.journal, interface: interface)
          require(false, "nobody was told")
        } catch JournalError.system("synchronized", _, EIO) {}
      }
      _exit(0)
    }
  }

  @Test(
    "a journal that can neither write nor cut is closed, and the partial record is cut later",
    .seccomp)
  func failedCut() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      let folder = try Folder()
      DiskFaultTests.inChild("cut") {
        let ledger = Ledger()
        let journal = try Journal(at: folder.journal, interface: interface, to: ledger)
        for number in 1...5 { try FaultTests.send(UInt64(number), to: journal) }
        SystemCall.limitFiles(to: journal.size + 20)
        SystemCall.refuse(TestMachine.numberOfCut)
        do {
          try FaultTests.send(6, to: journal)
          require(false, "the call was acknowledged")
        } catch JournalError.system("cut", folder.journal, EIO) {}
        SystemCall.limitFiles(to: nil)
        try DiskFaultTests.requireClosed(journal)
        require(try ledger == DiskFaultTests.model(1...5), "the call was made")
      }
      let size = try folder.bytes().count
      let journal = try Journal(at: folder.journal, interface: interface)
      require(journal.cut == .torn(offset: size - 20, bytes: 20), "\(journal.cut)")
      try FaultTests.send(6, to: journal)
      try journal.close()
      let ledger = Ledger()
      try JournalReader(at: folder.journal).replay(interface, into: ledger)
      require(try ledger == DiskFaultTests.model(1...6))
      _exit(0)
    }
  }

  // MARK: No room

  @Test("a file whose header does not fit on the disk is refused, and begun once there is space")
  func fullAtBeginning() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      let folder = try Folder()
      for room in [0, 10, 31] {
        SystemCall.limitFiles(to: room)
        do {
          _ = try Journal(at: folder.journal, interface: interface)
          require(false, "there is no room")
        } catch JournalError.system("written", folder.journal, EFBIG) {}
        SystemCall.limitFiles(to: nil)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        require(left.isEmpty, "\(left)")
      }
      let journal = try Journal(at: folder.journal, interface: interface)
      try FaultTests.send(1, to: journal)
      require(journal.nextSequence == 2 && journal.cut == .whole)
      _exit(0)
    }
  }

  @Test("if there is no space for a new file, the journal continues in the current one")
  func fullWhileFilesChange() async {
    await #expect(processExitsWith: .success) {
      let interface = try Ledger.interface()
      let folder = try Folder()
      let journal = try Journal(at: folder.journal, interface: interface)
      for number in 1...5 { try FaultTests.send(UInt64(number), to: journal) }
      let before = journal.size
      // No space for the header, for the records, and finally for those written meanwhile.
      let doings: [(Int?, () throws -> Void)] = [
        (0, { try journal.rotate() }), (31, { try journal.rotate() }),
        (31, { try journal.compact { _ in true } }),
        (before - 1, { try journal.compact { _ in true } }),
        (
          nil,
          {
            try journal.compact { record in
              if record.sequence == 5 {
                try FaultTests.send(6, to: journal)
                SystemCall.limitFiles(to: before + 1)
              }
              return true
            }
          }
        ),
      ]
      for (room, body) in doings {
        let bytes = try folder.bytes()
        if let room { SystemCall.limitFiles(to: room) }
        do {
          try body()
          require(false, "there is no room")
        } catch JournalError.system("written", let path, EFBIG) {
          require(path != folder.journal, path)
        }
        SystemCall.limitFiles(to: nil)
        require(try folder.bytes().starts(with: bytes), "the file is another one")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        require(names == ["a.journal"], "\(names)")
      }
      try FaultTests.send(7, to: journal)
      try journal.compact { _ in true }
      try journal.rotate()
      try FaultTests.send(8, to: journal)
      try journal.close()
      let ledger = Ledger()
      try JournalReader(at: folder.journal).replay(interface, into: ledger)
      require(try ledger == DiskFaultTests.model(1...8))
      _exit(0)
    }
  }

  @Test("files are not replaced if there is no descriptor left to sync their folder")
  func descriptors() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      var options = JournalOptions()
      options.sync = .group
      let journal = try Journal(at: folder.journal, interface: Ledger.interface(), options)
      try Ledger.rename("1", on: journal)
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(7), &limit)
      let before = limit.rlim_cur
      let free = open("/dev/null", O_RDONLY)
      close(free)
      for (extra, refused) in [
        (1, { try journal.rotate() }), (2, { try journal.compact { _ in true } }),
      ] as [(Int32, () throws -> Void)] {
        limit.rlim_cur = rlim_t(free + extra)
        setrlimit(__rlimit_resource_t(7), &limit)
        do {
          try refused()
          require(false, "it was done, and is not on the disk")
        } catch JournalError.system(_, _, EMFILE) {}
      }
      try Ledger.rename("2", on: journal)
      limit.rlim_cur = before
      setrlimit(__rlimit_resource_t(7), &limit)
      require(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.journal"])
      try journal.rotate()
      try Ledger.rename("3", on: journal)
      try journal.close()
      let ledger = Ledger()
      try JournalReader(at: folder.journal).replay(Ledger.interface(), into: ledger)
      require(ledger.names == ["1", "2", "3"])
      _exit(0)
    }
  }
}
