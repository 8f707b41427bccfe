// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Forwarding
import ForwardingTestSupport
import ForwardingUndo
import Testing

/// The memory of steps, counted by the C library. Each test runs in a process of its own, where no
/// other code allocates.
@Suite("Many undos", .countsMemory)
struct GrowthTests {
  static let count = 100_000

  /// The limits include the overhead of the allocator and the capacity of the list.
  @Test(
    "each undo takes no more than its bytes, and its memory is released with the history",
    arguments: [("a number", 133), ("a short text", 160)])
  func undos(of what: String, limit: Int) async {
    await #expect(processExitsWith: .success) { [what, limit] in
      let undo = UndoStack()
      let page = Page(undo)
      let record = { (index: Int) in
        if what == "a number" { try page.add(index) } else { try page.setTitle("text") }
      }
      try record(0)
      undo.removeAll()
      let before = fixture_allocated_bytes()
      let count = GrowthTests.count
      for index in 0..<count { try record(index) }
      let bytes = (fixture_allocated_bytes() - before) / count
      require(undo.undoCount == count && bytes <= limit, "\(undo.undoCount) of \(bytes) bytes")
      // An undone entry becomes a redo of the same size.
      for _ in 0..<count / 10 { try undo.undo() }
      let changed = (fixture_allocated_bytes() - before) / count
      require(undo.redoCount == count / 10 && changed <= limit + limit / 10, "\(changed) bytes")
      undo.removeAll()
      let left = fixture_allocated_bytes() - before
      require(left < count, "\(left) bytes are left")
    }
  }

  @Test("100,000 undos with a limit on levels take no memory beyond the limit")
  func limited() async {
    await #expect(processExitsWith: .success) {
      let undo = UndoStack()
      let page = Page(undo)
      undo.levels = 10
      for number in 0..<1000 { try page.add(number) }
      let before = fixture_allocated_bytes()
      for number in 0..<GrowthTests.count { try page.add(number) }
      let more = fixture_allocated_bytes() - before
      require(undo.undoCount == 10 && more <= 10_000, "\(more) bytes more")
    }
  }
}
