// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Forwarding
import ForwardingTestSupport
import ForwardingUndo
import Foundation
import Testing

/// The memory of steps, counted by the C library. Each test runs in a process of its own, where no
/// other code allocates.
@Suite("Many undos", .enabled(if: isMemoryCounted))
struct GrowthTests {
  static let count = 100_000

  /// Records `count` changes. Exits the process with an error if a record takes more than `limit`
  /// bytes, including the overhead of the allocator and the capacity of the list, or if memory is
  /// left after the history is removed.
  static func check(_ limit: Int, _ record: (Page, Int) throws -> Void) throws {
    let undo = UndoStack()
    let page = Page(undo)
    try record(page, 0)
    undo.removeAll()
    let before = fixture_allocated_bytes()
    for index in 0..<count { try record(page, index) }
    let bytes = (fixture_allocated_bytes() - before) / count
    require(undo.undoCount == count && bytes <= limit, "\(undo.undoCount) of \(bytes) bytes")
    // An undone entry becomes a redo of the same size.
    for _ in 0..<count / 10 { try undo.undo() }
    let changed = (fixture_allocated_bytes() - before) / count
    require(
      undo.redoCount == count / 10 && changed <= limit + limit / 10,
      "\(undo.redoCount) undone, \(changed) bytes")
    undo.removeAll()
    let left = fixture_allocated_bytes() - before
    require(left < count, "\(left) bytes are left")
  }

  @Test("each undo of a number takes 133 bytes, and its memory is released with it")
  func message() async {
    await #expect(processExitsWith: .success) {
      try GrowthTests.check(133) { page, index in
        try page.add(index)
      }
    }
  }

  @Test("each undo of a short text takes 160 bytes")
  func text() async {
    await #expect(processExitsWith: .success) {
      try GrowthTests.check(160) { page, _ in
        try page.setTitle("text")
      }
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

/// Exits with an error message if the condition is false, for a test that expects success.
private func require(_ isSo: Bool, _ text: String) {
  if isSo { return }
  FileHandle.standardError.write(Data("\(text)\n".utf8))
  exit(1)
}

/// False under a sanitizer, which replaces the allocator.
private let isMemoryCounted: Bool = {
  let before = fixture_allocated_bytes()
  let array = [Int](repeating: 1, count: 10_000)
  return before >= 0 && fixture_allocated_bytes() - before >= 8 * array.count
}()
