import CForwardingFixtures
import Forwarding
import ForwardingUndo
import Foundation
import Testing

/// The memory of steps, counted by the C library. Each in a process of its own, where nobody else allocates.
@Suite("Many undos", .enabled(if: isMemoryCounted))
struct GrowthTests {
  static let count = 100_000

  /// Records so many, and stops the process if one takes more bytes than it may, the overhead of blocks and the room
  /// of the list included, or if anything is left when they are forgotten.
  static func check(_ limit: Int, _ record: (Page, Int) throws -> Void) throws {
    let undo = UndoStack()
    let page = Page(undo)
    try record(page, 0)
    undo.removeAll()
    let before = fixture_allocated_bytes()
    for index in 0..<count { try record(page, index) }
    let bytes = (fixture_allocated_bytes() - before) / count
    require(undo.undoCount == count && bytes <= limit, "\(undo.undoCount) of \(bytes) bytes")
    // What is undone is a redo, of the same size.
    for _ in 0..<count / 10 { try undo.undo() }
    let changed = (fixture_allocated_bytes() - before) / count
    require(
      undo.redoCount == count / 10 && changed <= limit + limit / 10,
      "\(undo.redoCount) undone, \(changed) bytes")
    undo.removeAll()
    let left = fixture_allocated_bytes() - before
    require(left < count, "\(left) bytes are left")
  }

  @Test("one of 100,000 undos of a number takes 165 bytes, and none when it is forgotten")
  func message() async {
    await #expect(processExitsWith: .success) {
      try GrowthTests.check(165) { page, index in try page.add(index) }
    }
  }

  @Test("one of 100,000 undos of a short text takes 180 bytes")
  func text() async {
    await #expect(processExitsWith: .success) {
      try GrowthTests.check(180) { page, _ in try page.setTitle("text") }
    }
  }

  @Test("one of 100,000 undos at a limit takes nothing")
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

/// Ends a process that a test expects to succeed, and says why.
private func require(_ isSo: Bool, _ text: String) {
  if isSo { return }
  FileHandle.standardError.write(Data("\(text)\n".utf8))
  exit(1)
}

/// Not where a sanitizer has an allocator of its own.
private let isMemoryCounted: Bool = {
  let before = fixture_allocated_bytes()
  let array = [Int](repeating: 1, count: 10_000)
  return before >= 0 && fixture_allocated_bytes() - before >= 8 * array.count
}()
