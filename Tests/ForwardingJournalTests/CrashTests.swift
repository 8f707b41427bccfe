// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing
import TypeEncodings

/// One program that creates a journal, appends, rotates, prunes and closes. At each of its system
/// calls, it is killed, or the call fails, or the power is cut, or another process reads.
///
/// Each time, the same must be true: the next process opens the journal and continues, and readers
/// find every acknowledged call that was not pruned, with its number, and no call twice.
@Suite("Faults at every system call", .notEmulated("no ptrace"))
struct CrashTests {
  /// What the program has done, as its parent sees it.
  private struct Done: @unchecked Sendable {
    private let numbers = SharedNumbers(count: 32)
    /// The number of calls that were begun.
    var begun: UInt64 { numbers[0] }
    /// Below this number, records may have been pruned.
    var pruned: UInt64 { numbers[1] }
    /// Below this number, records were synced by a rotation.
    var rotated: UInt64 { numbers[2] }
    /// The sequence number with which a call was acknowledged; 0 if it was not.
    func sequence(of call: UInt64) -> UInt64 { numbers[Int(call) + 3] }

    func send(on journal: Journal) {
      numbers[0] += 1
      let call = numbers[0]
      guard let made = try? Ledger.rename.invocation("\(call)"),
        let sequence = try? journal.record(made)
      else { return }
      numbers[Int(call) + 3] = sequence
    }

    func rotate(_ journal: Journal) {
      let next = journal.nextSequence
      if (try? journal.rotate()) != nil { numbers[2] = next }
    }

    func prune(_ journal: Journal, before sequence: UInt64) {
      numbers[1] = sequence
      _ = try? journal.removeRotated(before: sequence)
    }
  }

  /// Failures are ignored: the calls behind them are tried, too.
  private static func program(_ folder: Folder, _ isGroup: Bool, _ done: Done) {
    guard let journal = try? folder.open(sync: isGroup ? .group : .never) else { return }
    for _ in 1...2 { done.send(on: journal) }
    done.rotate(journal)
    done.send(on: journal)
    done.rotate(journal)
    done.send(on: journal)
    done.prune(journal, before: 3)
    for _ in 1...2 { done.send(on: journal) }
    try? journal.close()
  }

  /// Opens what is left, continues, and reads it.
  private static func check(
    _ folder: Folder, _ done: Done, below: UInt64 = .max, mostUntold: Int = 9, _ place: String
  ) {
    do {
      let journal = try folder.open(sync: .group)
      try Ledger.rename("last", on: journal)
      try journal.rotate()
      try journal.close()
      let found = try read(folder)
      require(Set(found.map(\.name)).count == found.count, "\(found) has one twice, \(place)")
      for call in 1...max(1, done.begun) where done.sequence(of: call) >= max(1, done.pruned) {
        let sequence = done.sequence(of: call)
        require(
          sequence >= below || found.contains { $0 == (sequence, "\(call)") },
          "\(call) is lost from \(found), \(place)")
      }
      let untold = found.filter { UInt64($0.name).map { done.sequence(of: $0) == 0 } ?? false }
      require(untold.count <= mostUntold && found.last?.name == "last", "\(found), \(place)")
    } catch {
      require(false, "\(error), \(place)")
    }
  }

  private static func read(_ folder: Folder) throws -> [(sequence: UInt64, name: String)] {
    let reader = try folder.reader()
    var found: [(UInt64, String)] = []
    while let record = try reader.next() {
      guard let name = try record.values().first else { continue }
      found.append((record.sequence, String(name.dropFirst().dropLast())))
    }
    return found
  }

  @Test(
    "a process killed at any system call loses no acknowledged call",
    arguments: [false, true])
  func killed(isGroup: Bool) async {
    await #expect(processExitsWith: .success) { [isGroup] in
      var (kills, status): (Int, Int32) = (0, -SIGKILL)
      while status == -SIGKILL {
        let (folder, done) = (try Folder(), Done())
        var stops = 0
        status = try SystemCall.trace({ CrashTests.program(folder, isGroup, done) }) { call in
          // A call without effect on files makes no difference to the next process.
          if call.name != "other" { stops += 1 }
          return stops <= kills ? .go : .kill
        }
        CrashTests.check(folder, done, mostUntold: 1, "kill \(kills)")
        kills += 1
      }
      require(status == 0 && kills > 60, "\(status) after \(kills) kills")
      _exit(0)
    }
  }

  @Test(
    "an error of any system call loses no acknowledged call, not even if the power is cut then",
    .machine(.x86_64Linux), arguments: [false, true])
  func failed(isGroup: Bool) async {
    await #expect(processExitsWith: .success) { [isGroup] in
      var (failing, hasFailed) = (0, true)
      while hasFailed {
        let (folder, done) = (try Folder(), Done())
        var (entries, what) = (0, "")
        var disk = Disk(folder)
        let status = try SystemCall.trace({ CrashTests.program(folder, isGroup, done) }) { call in
          try disk.note(call)
          guard call.name != "other", call.result == nil else { return .go }
          entries += 1
          if entries == failing + 1 {
            what = call.name
            return .fail
          }
          return .go
        }
        hasFailed = entries > failing
        let place = "error \(failing) of \(what)"
        require(status == 0, "\(status), \(place)")
        if isGroup { try disk.cutPower { CrashTests.check($0, done, place + $1) } }
        CrashTests.check(folder, done, place)
        failing += 1
      }
      require(failing > 40, "\(failing) calls")
      _exit(0)
    }
  }

  @Test(
    "a power cut at any system call loses no synced call, and readers always find the journal",
    arguments: [false, true])
  func cut(isGroup: Bool) async {
    await #expect(processExitsWith: .success) { [isGroup] in
      let (folder, done) = (try Folder(), Done())
      var disk = Disk(folder)
      var (stops, found) = (0, 0)
      let status = try SystemCall.trace({ CrashTests.program(folder, isGroup, done) }) { call in
        try disk.note(call)
        guard call.name != "other" else { return .go }
        stops += 1
        let place = "stop \(stops) at \(call.name)"
        let below = isGroup ? UInt64.max : done.rotated
        try disk.cutPower { CrashTests.check($0, done, below: below, place + $1) }
        do {
          let calls = try CrashTests.read(folder)
          found = max(found, calls.count)
          for call in 1...max(1, done.begun) where done.sequence(of: call) >= max(1, done.pruned) {
            require(calls.contains { $0.name == "\(call)" }, "\(call) is not in \(calls), \(place)")
          }
        } catch JournalError.system(_, _, ENOENT) {
          require(found == 0, "the file is gone at \(place)")
        }
        return .go
      }
      require(status == 0 && stops > 60 && found > 3, "\(status) after \(stops) stops")
      _exit(0)
    }
  }

  @Test("a record is one write and, if calls wait for the disk, one sync; otherwise who asks waits")
  func oneWrite() async {
    await #expect(processExitsWith: .success) {
      for sync in [JournalOptions.Sync.never, .group] {
        let folder = try Folder()
        let hasBegun = SharedNumbers(count: 1)
        var calls: [String] = []
        let status = try SystemCall.trace({
          let journal = try folder.open(sync: sync)
          hasBegun[0] = 1
          for number in 1...5 { try Ledger.send(UInt64(number), to: journal) }
          try Ledger.rename(String(repeating: "long ", count: 100_000), on: journal)
          try journal.sync()
          _exit(0)
        }) { call in
          if hasBegun[0] == 1, call.result == nil, call.name != "other" { calls.append(call.name) }
          return .go
        }
        let each = sync == .never ? ["write"] : ["write", "fdatasync"]
        let last = sync == .never ? ["fdatasync"] : []
        require(status == 0 && calls == (1...6).flatMap { _ in each } + last, "\(calls)")
      }
      _exit(0)
    }
  }
}

/// What a disk has after a power cut: everything that was synced, and any part of the rest.
private struct Disk {
  private let folder: Folder
  /// The bytes of each file by its inode number, as written and as synced.
  private var (written, synced): ([Int: [UInt8]], [Int: [UInt8]]) = ([:], [:])
  /// The files by their names, as they are and as they were synced.
  private var (names, syncedNames): ([String: Int], [String: Int]) = ([:], [:])

  init(_ folder: Folder) { self.folder = folder }

  /// Follows a system call that has ended.
  mutating func note(_ call: SystemCall) throws {
    guard call.name != "other", let result = call.result else { return }
    names = [:]
    for name in try folder.files {
      var status = stat()
      guard stat("\(folder.path)/\(name)", &status) == 0 else { continue }
      names[name] = Int(status.st_ino)
      written[Int(status.st_ino)] = try folder.bytes(name)
    }
    guard result == 0 else { return }
    if call.name == "fdatasync" { synced[call.file] = written[call.file] }
    if call.name == "fsync" { syncedNames = names }
  }

  /// Calls `check` with each state that the disk may have after a power cut now.
  func cutPower(_ check: (Folder, String) throws -> Void) throws {
    // A name that was replaced may be there without one that was added before it. A renaming is
    // there as a whole.
    let kept = syncedNames.filter { names[$0.key] != nil || !names.values.contains($0.value) }
    let replaced = kept.merging(names.filter { syncedNames[$0.key] != nil }) { $1 }
    for (names, which) in [
      (syncedNames, "old names"), (names, "new names"), (replaced, "replaced names"),
    ] {
      for bytes in ["synced", "written", "zeros", "sectors"] {
        let after = try Folder()
        var written: [Int: String] = [:]
        for (name, file) in names {
          if let other = written.updateValue(name, forKey: file) {
            require(link("\(after.path)/\(other)", "\(after.path)/\(name)") == 0)
            continue
          }
          let (new, old) = (self.written[file] ?? [], synced[file] ?? [])
          switch bytes {
          case "synced": try after.write(old, name)
          case "written": try after.write(new, name)
          default: try after.write(Self.lose(new, old, isEvery: bytes == "zeros"), name)
          }
        }
        try check(after, ", \(which), \(bytes)")
      }
    }
  }

  /// The written bytes, with zeros in place of every sector that was not synced, or of every second.
  private static func lose(_ new: [UInt8], _ old: [UInt8], isEvery: Bool) -> [UInt8] {
    var bytes = new
    for place in new.indices where place >= old.count || new[place] != old[place] {
      if isEvery || place / 512 % 2 == 0 { bytes[place] = place < old.count ? old[place] : 0 }
    }
    return bytes
  }
}
