// SPDX-License-Identifier: Apache-2.0
import BenchmarkSubjects
import Forwarding
import ForwardingJournal
import ForwardingUndo

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// The growth of stored calls: in a file, and in an undo stack.
extension Curves {
  // MARK: A journal

  /// Journals of many calls, written and read from end to end.
  static func journals() throws -> Curve {
    var curve = Curve("Calls in a journal", x: "calls", y: "ns for each")
    curve.lines = ["append", "open again", "replay"].map { ($0, []) }
    let message = try Message<NoResult, Int, Double, Bool>("book:at:final:")
    let interface = try CoreRows.journalInterface(message)
    let subject = Subject()
    for number in [1000, 10_000, 100_000, 1_000_000] {
      var best = [Double](repeating: .infinity, count: curve.lines.count)
      for _ in 0..<max(2, 20_000 / number) {
        let path = CoreRows.temporaryPath()
        defer { unsafe unlink(path) }
        func time(_ line: Int, _ body: () throws -> Void) rethrows {
          let start = Runner.now()
          try body()
          best[line] = min(best[line], (Runner.now() - start) / Double(number))
        }
        let journal = try Journal(at: path, interface: interface)
        try time(0) { for index in 0..<number { try message(index, 0.5, true, on: journal) } }
        try journal.close()
        try time(1) { try Journal(at: path, interface: interface).close() }
        try time(2) {
          let made = try JournalReader(at: path).replay(interface, into: subject).made
          precondition(made == number, "a journal lost calls")
        }
      }
      for (line, time) in best.enumerated() {
        curve.lines[line].points.append((x: Double(number), y: time))
      }
    }
    return curve
  }

  /// Threads that append at once, each waiting until its call is on the disk.
  static func syncs() throws -> Curve {
    var curve = Curve(
      "Calls that wait for the disk", x: "threads", y: "µs for a call, of all together")
    let message = try Message<NoResult, Int, Double, Bool>("book:at:final:")
    let interface = try CoreRows.journalInterface(message)
    for (name, sync) in [("each by itself", JournalOptions.Sync.each), ("in groups", .group)] {
      var points: [(x: Double, y: Double)] = []
      for number in [1, 2, 4, 8, 16, 32] {
        let path = CoreRows.temporaryPath()
        defer { unsafe unlink(path) }
        var options = JournalOptions()
        options.sync = sync
        let journal = try Journal(at: path, interface: interface, options)
        let each = 128 / number
        let start = Runner.now()
        let threads = (0..<number).map { _ in
          BenchmarkThread {
            for index in 0..<each { _ = try? message(index, 0.5, true, on: journal) }
          }
        }
        for thread in threads { thread.join() }
        let time = Runner.now() - start
        precondition(journal.nextSequence > each * number, "a journal lost calls")
        points.append((x: Double(number), y: time / Double(each * number) / 1000))
      }
      curve.lines.append((name, points))
    }
    return curve
  }

  // MARK: Undo

  /// An undo stack of many steps: all recorded, all undone, all redone.
  static func steps() throws -> Curve {
    var curve = Curve("Steps that can be undone", x: "steps", y: "ns for each")
    curve.lines = ["record", "undo", "do again", "bytes of memory"].map { ($0, []) }
    for number in [100, 1000, 10_000, 100_000] {
      var best = [Double](repeating: .infinity, count: curve.lines.count)
      for _ in 0..<max(3, 20_000 / number) {
        let counter = CoreRows.Counter()
        func time(_ line: Int, _ body: () throws -> Void) rethrows {
          let start = Runner.now()
          try body()
          best[line] = min(best[line], (Runner.now() - start) / Double(number))
        }
        let before = subject_allocated_bytes()
        time(0) { for index in 0..<number { counter.set(index) } }
        if before >= 0 {
          best[3] = min(best[3], Double(subject_allocated_bytes() - before) / Double(number))
        }
        try time(1) { while counter.undo.canUndo { try counter.undo.undo() } }
        try time(2) { while counter.undo.canRedo { try counter.undo.redo() } }
      }
      for (line, value) in best.enumerated() where value.isFinite {
        curve.lines[line].points.append((x: Double(number), y: value))
      }
    }
    curve.lines.removeAll { $0.points.isEmpty }
    return curve
  }
}
