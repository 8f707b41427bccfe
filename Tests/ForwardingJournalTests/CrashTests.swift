// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Glibc
import Testing
import TypeEncodings

/// One program that opens a journal, appends, rotates, prunes, closes and reads. At each of its
/// system calls, it is killed, or the disk fails, or the power is cut, or another process reads.
///
/// Each time, the same must be true: the next process opens the journal and continues, and readers
/// find every acknowledged call that was not pruned, with its number, and no call twice.
///
/// Errors begin at each `JOURNAL_FAULT_STEP`-th system call (5; 1 in `make check`).
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
    /// How many bytes the second opening has cut.
    var cut: UInt64 { numbers[3] }
    /// The sequence number with which a call was acknowledged; 0 if it was not.
    func sequence(of call: UInt64) -> UInt64 { numbers[Int(call) + 4] }
    /// Whether a call that cannot be cut leaves a part of its record.
    var isPartial: Bool {
      get { numbers[31] > 0 }
      nonmutating set { numbers[31] = newValue ? 1 : 0 }
    }
    var acknowledged: Int { (0...begun).count { $0 > 0 && sequence(of: $0) > 0 } }
    /// All of it, to tell whether something was done since then.
    var all: [UInt64] { (0..<32).map { numbers[$0] } }

    /// Opens the journal, and runs what uses it. A call is made if and only if it is acknowledged.
    func session(
      _ folder: Folder, _ isGroup: Bool, _ body: (Journal, _ send: (Int) -> Void) -> Void
    ) {
      let ledger = Ledger()
      guard let journal = tried({ try folder.open(to: ledger, sync: isGroup ? .group : .never) })
      else { return }
      numbers[3] = UInt64(journal.cut)
      var isBroken = false
      body(journal) { count in
        for _ in 0..<count {
          numbers[0] += 1
          let (call, next) = (numbers[0], journal.nextSequence)
          let made: Void? = tried {
            try Ledger.rename("\(call)", on: journal)
          } failed: {
            if case .system("cut", _, _) = $0 { isBroken = isPartial }
          }
          let isAcknowledged = made != nil
          require(!isAcknowledged || !isBroken, "a call is recorded behind half of one")
          if isAcknowledged { numbers[Int(call) + 4] = next }
          require((ledger.names.last == "\(call)") == isAcknowledged, "\(call) is made, or not")
        }
      }
      tried { try journal.close() }
    }

    func rotate(_ journal: Journal) {
      let next = journal.nextSequence
      if tried({ try journal.rotate() }) != nil { numbers[2] = next }
    }

    func prune(_ journal: Journal, before sequence: UInt64) {
      numbers[1] = sequence
      tried { try journal.removeRotated(before: sequence) }
    }

    func requireAll(in found: [Call], below: UInt64 = .max, _ place: String) {
      for call in 1...max(1, begun) where sequence(of: call) >= max(1, pruned) {
        let sequence = sequence(of: call)
        require(
          sequence >= below || found.contains { $0 == (sequence, "\(call)") },
          "\(call) is lost from \(found), \(place)")
      }
    }
  }

  private typealias Call = (sequence: UInt64, name: String)

  /// Does what a failing disk may refuse, with its error. What comes behind it is tried, too.
  @discardableResult
  private static func tried<Value>(
    _ body: () throws -> Value, failed: (JournalError) -> Void = { _ in }
  ) -> Value? {
    do { return try body() } catch let error as JournalError {
      switch error {
      case .system(_, _, EIO), .closed: failed(error)
      default: require(false, "another error: \(error)")
      }
    } catch { require(false, "another error: \(error)") }
    return nil
  }

  private static func program(_ folder: Folder, _ isGroup: Bool, _ done: Done) {
    done.session(folder, isGroup) { journal, send in
      send(2)
      done.rotate(journal)
      send(1)
      done.rotate(journal)
      send(1)
      done.prune(journal, before: 3)
      send(2)
    }
    done.session(folder, isGroup) { _, send in send(1) }
    // No error is taken for the end of the journal.
    if done.begun > 0, let found = tried({ try read(folder) }) {
      done.requireAll(in: found, "read at the end")
    }
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
      done.requireAll(in: found, below: below, place)
      let untold = found.filter { UInt64($0.name).map { done.sequence(of: $0) == 0 } ?? false }
      require(untold.count <= mostUntold && found.last?.name == "last", "\(found), \(place)")
    } catch {
      require(false, "\(error), \(place)")
    }
  }

  private static func read(_ folder: Folder) throws -> [Call] {
    let reader = try folder.reader()
    var found: [Call] = []
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
          if call.changesFiles { stops += 1 }
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
    "errors of system calls, also behind a part of a write, lose no acknowledged call, nor a power cut then",
    .machine(.x86_64Linux), arguments: [false, true], [1, 2, Int.max])
  func failed(isGroup: Bool, errors: Int) async {
    await #expect(processExitsWith: .success) { [isGroup, errors] in
      let step = setting("JOURNAL_FAULT_STEP", 5)
      for isPartial in [false, true] {
        var (first, hasFailed) = (errors % step, true)
        while hasFailed {
          let (folder, done) = (try Folder(), Done())
          done.isPartial = isPartial
          var (entries, left, what) = (0, errors, "")
          // The power is cut behind the next acknowledged call, and at the end.
          var (cuts, acknowledged) = (0, 0)
          var disk = Disk(folder)
          let status = try SystemCall.trace({ CrashTests.program(folder, isGroup, done) }) { call in
            try disk.note(call)
            let below = isGroup ? UInt64.max : done.rotated
            if cuts == 1, done.acknowledged > acknowledged {
              cuts += 1
              try disk.cutPower(done.all) {
                CrashTests.check($0, done, below: below, "soon behind \(what) \(first)" + $1)
              }
            }
            guard call.name != "other", call.result == nil else { return .go }
            if what.isEmpty {
              if isPartial, call.name != "write" { return .go }
              entries += 1
              if entries <= first { return .go }
              what = call.name
              if errors == 1, call.changesFiles {
                (cuts, acknowledged) = (1, done.acknowledged)
              }
              if isPartial { return .limit(to: Int(call.arguments[2]) / 2) }
            }
            left -= 1
            return left >= 0 ? .fail : .go
          }
          hasFailed = !what.isEmpty
          let place = "\(errors) errors from \(what) \(first) on"
          require(status == 0, "\(status), \(place)")
          if errors == 1 {
            require(done.cut == 0, "half a record is left, \(place)")
            let isLeft = try folder.files.contains { $0.hasSuffix("~") }
            require(!isLeft || what == "unlink", "a new file is left, \(place)")
          }
          if cuts > 0 {
            let below = isGroup ? UInt64.max : done.rotated
            try disk.cutPower(done.all) {
              CrashTests.check($0, done, below: below, place + $1)
            }
          }
          CrashTests.check(folder, done, place)
          first += step
        }
        require(first > (isPartial ? 9 : 80), "\(first) calls")
      }
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
        guard call.changesFiles else { return .go }
        stops += 1
        let place = "stop \(stops) at \(call.name)"
        let below = isGroup ? UInt64.max : done.rotated
        try disk.cutPower(done.all) { CrashTests.check($0, done, below: below, place + $1) }
        do {
          let calls = try CrashTests.read(folder)
          found = max(found, calls.count)
          done.requireAll(in: calls, place)
        } catch JournalError.system(_, _, ENOENT) {
          require(found == 0, "the file is gone at \(place)")
        }
        return .go
      }
      require(status == 0 && stops > 60 && found > 3, "\(status) after \(stops) stops")
      _exit(0)
    }
  }

  @Test(
    "a file that cannot be locked is not begun, at the first opening or by a rotation",
    .machine(.x86_64Linux), arguments: [1, 2])
  func unlocked(failing: Int) async {
    await #expect(processExitsWith: .success) { [failing] in
      let folder = try Folder()
      var locks = 0
      let status = try SystemCall.trace({
        do {
          let journal = try folder.open()
          try Ledger.rename("1", on: journal)
          try journal.rotate()
        } catch JournalError.system("locked", folder.journal, EIO) { _exit(7) }
      }) { call in
        guard call.name == "flock", call.result == nil else { return .go }
        locks += 1
        return locks == failing ? .fail : .go
      }
      require(status == 7, "\(status) after \(locks) locks")
      require(try folder.files.count == failing - 1)
    }
  }

  /// Unreadable pages, alone or with everything after them; none are behind the end.
  private static let unreadable: [(records: Int, bad: Range<Int>, most: Int)] =
    [1, 7, 100].map { (40, Int.max..<Int.max, $0) }
    + [
      0..<4096, 4096..<8192, 20480..<24576, 20480..<Int.max, 45056..<49152, 0..<Int.max,
    ].map { (1200, $0, Int.max) }

  @Test(
    "all records before an unreadable page are read, also by few bytes at a time; it is no end, and nothing is cut or begun",
    .machine(.x86_64Linux))
  func reading() async {
    await #expect(processExitsWith: .success) {
      for (records, bad, most) in CrashTests.unreadable {
        let folder = try Folder()
        let starts = try folder.write(1...records)
        let bytes = try folder.bytes()
        let status = try SystemCall.trace({
          func fails(_ body: () throws -> Void) throws -> Bool {
            do { try body() } catch JournalError.system("read", folder.journal, EIO) { return true }
            return false
          }
          var read = 0
          let isReadToTheEnd = try !fails {
            let reader = try folder.reader()
            while try reader.next() != nil { read += 1 }
          }
          // The last record ends before the first unreadable byte.
          require(read == max(0, starts.count { $0 <= bad.lowerBound } - 1), "\(bad): \(read)")
          let isOpened = try !fails { _ = try folder.open() }
          require(isReadToTheEnd == bad.isEmpty && isOpened == bad.isEmpty, "\(bad)")
        }) { call in
          guard call.name == "read", call.result == nil else { return .go }
          // As a disk does: up to the first unreadable byte, which is not asked for behind the end.
          let offset = Int(call.arguments[3])
          if bad.contains(offset) { return offset < bytes.count ? .fail : .go }
          return .limit(to: offset < bad.lowerBound ? min(most, bad.lowerBound - offset) : most)
        }
        require(status == 0, "\(bad), \(most)")
        require(try folder.bytes() == bytes && folder.files == ["a.journal"], "\(bad)")
      }
      _exit(0)
    }
  }

  @Test("a record is one write and, if calls wait for the disk, one sync; otherwise who asks waits")
  func oneWrite() async {
    await #expect(processExitsWith: .success) {
      for sync in [JournalOptions.Sync.never, .group] {
        let folder = try Folder()
        let calls = try SystemCall.changes {
          let journal = try folder.open(sync: sync)
          for number in 1...5 { try Ledger.send(UInt64(number), to: journal) }
          try Ledger.rename(String(repeating: "long ", count: 100_000), on: journal)
          try journal.sync()
          _exit(0)
        }
        let each = sync == .never ? ["write"] : ["write", "fdatasync"]
        let last = sync == .never ? ["fdatasync"] : []
        // The opening ends with the folder, whose name for the file is synced then.
        let behind = calls.lastIndex(of: "fsync").map { Array(calls[($0 + 1)...]) } ?? []
        require(behind == (1...6).flatMap { _ in each } + last, "\(calls)")
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
  private var checked: Set<State> = []

  /// What may be left, and what the program had done by then.
  private struct State: Hashable {
    let done: [UInt64]
    var files: [String: [UInt8]] = [:]
    /// Further names of files.
    var links: [String: String] = [:]
  }

  init(_ folder: Folder) { self.folder = folder }

  /// Follows a system call that has ended.
  mutating func note(_ call: SystemCall) throws {
    guard call.changesFiles, let result = call.result else { return }
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

  /// Calls `check` with each state that the disk may have after a power cut now. One that was checked
  /// before, with nothing done since then, is left out.
  mutating func cutPower(
    _ done: [UInt64], _ check: (Folder, String) throws -> Void
  ) throws {
    // A name that was replaced may be there without one that was added before it. A renaming is
    // there as a whole.
    let kept = syncedNames.filter { names[$0.key] != nil || !names.values.contains($0.value) }
    let replaced = kept.merging(names.filter { syncedNames[$0.key] != nil }) { $1 }
    for (names, which) in [
      (syncedNames, "old names"), (names, "new names"), (replaced, "replaced names"),
    ] {
      for bytes in ["synced", "written", "zeros", "sectors"] {
        let state = state(names, bytes, done)
        guard checked.insert(state).inserted else { continue }
        let after = try Folder()
        for (name, bytes) in state.files { try after.write(bytes, name) }
        for (name, other) in state.links {
          require(link("\(after.path)/\(other)", "\(after.path)/\(name)") == 0)
        }
        try check(after, ", \(which), \(bytes)")
      }
    }
  }

  private func state(_ names: [String: Int], _ bytes: String, _ done: [UInt64]) -> State {
    var state = State(done: done)
    var first: [Int: String] = [:]
    for (name, file) in names.sorted(by: { $0.key < $1.key }) {
      if let other = first[file] {
        state.links[name] = other
        continue
      }
      first[file] = name
      let (new, old) = (written[file] ?? [], synced[file] ?? [])
      state.files[name] =
        switch bytes {
        case "synced": old
        case "written": new
        default: Self.lose(new, old, isEvery: bytes == "zeros")
        }
    }
    return state
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
