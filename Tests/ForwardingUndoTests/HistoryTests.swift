// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

// Values, counts, names, limits and removals are compared in random histories (`UndoModelTests`).
// These are the cases that the model does not know.

@Suite("Whether the targets are modified")
struct SavedStateTests {
  /// A history in which `page` and `other` change, and what `isModified` must be at its marks.
  struct Case: CustomTestStringConvertible, Sendable {
    typealias Run = @Sendable (UndoStack, Page, Page, _ mark: (Bool) -> Void) throws -> Void
    let testDescription: String
    let run: Run

    init(_ name: String, _ run: @escaping Run) {
      testDescription = name
      self.run = run
    }
  }

  static let cases: [Case] = [
    Case("undo and redo lead back to the saved state") { undo, page, _, isModified in
      isModified(false)
      try page.add(1)
      isModified(true)
      try undo.markSaved()
      try page.add(2)
      try undo.undo()
      isModified(false)
      try undo.undo()
      isModified(true)
      try undo.redo()
      isModified(false)
      try undo.redo()
      isModified(true)
    },
    Case("a saved state on a dropped branch is never reached again") { undo, page, _, isModified in
      try page.add(1)
      try undo.markSaved()
      try undo.undo()
      try page.add(2)
      isModified(true)
      try undo.undo()
      isModified(true)
    },
    Case("removing the history does not change it") { undo, page, _, isModified in
      try page.add(1)
      undo.removeAll()
      isModified(true)
      try undo.markSaved()
      undo.removeAll()
      isModified(false)
    },
    Case("a limit drops the saved state with the oldest undos") { undo, page, _, isModified in
      undo.levels = 1
      try page.add(1)
      try page.add(1)
      try undo.undo()
      isModified(true)
      try undo.markSaved()
      try undo.redo()
      try undo.undo()
      isModified(false)
    },
    Case("a removal does not change it, and undo and redo lead back") {
      undo, page, other, isModified in
      try page.add(1)
      try other.add(2)
      try undo.markSaved()
      undo.removeAll(for: other)
      isModified(false)
      try undo.undo()
      isModified(true)
      try undo.redo()
      isModified(false)
    },
    Case("after a removal above it no undo leads to the saved state") {
      undo, page, other, isModified in
      try page.add(1)
      try undo.markSaved()
      try other.add(2)
      undo.removeAll(for: other)
      isModified(true)
      try undo.undo()
      isModified(true)
      try undo.redo()
      isModified(true)
    },
    Case("nor does a redo through removed steps") { undo, page, other, isModified in
      try page.add(1)
      try other.add(2)
      try undo.markSaved()
      try undo.undo()
      try undo.undo()
      undo.removeAll(for: other)
      try undo.redo()
      isModified(true)
    },
    Case("an open group is a modification once it is not empty") { undo, page, _, isModified in
      try undo.beginGroup()
      isModified(false)
      try page.add(1)
      isModified(true)
      try undo.endGroup()
      isModified(true)
    },
    Case("a removal from an open group leaves its change") { undo, page, _, isModified in
      try undo.beginGroup()
      try page.add(1)
      undo.removeAll(for: page)
      isModified(true)
      try undo.endGroup()
      isModified(true)
    },
    Case("a record that joins another is a modification") { undo, page, _, isModified in
      let rule = UndoCoalescing.keepFirst("title")
      try page.setTitle("a", coalescing: rule)
      try undo.markSaved()
      try page.setTitle("b", coalescing: rule)
      isModified(true)
      try undo.undo()
      isModified(false)
    },
    Case("an undo that recorded nothing has no redo") { undo, page, _, isModified in
      undo.record(on: page) { _ in }
      try page.add(1)
      try undo.markSaved()
      try undo.undo()
      try undo.undo()
      try undo.redo()
      isModified(true)
    },
    Case("a step that recorded nothing is not done again") { undo, page, _, isModified in
      try undo.group {
        try page.add(1)
        undo.record(on: page) { _ in }
      }
      try undo.markSaved()
      try undo.undo()
      try undo.redo()
      isModified(true)
    },
    Case("an undo and a redo that recorded nothing reach their states") {
      undo, page, _, isModified in
      undo.record(on: page) { _ in }
      try undo.undo()
      isModified(false)
      try page.add(1)
      undo.record(on: page) { page in page.undo.record(on: page) { _ in } }
      try undo.markSaved()
      try undo.undo()
      try undo.redo()
      isModified(false)
      try undo.undo()
      isModified(true)
    },
    Case("a dead entry is dropped, and its change stays") { undo, page, _, isModified in
      try undo.markSaved()
      try page.add(1)
      try Page(undo).add(2)
      try undo.undo()
      isModified(true)
    },
  ]

  @Test("the targets are not modified exactly where they are as saved", arguments: cases)
  func modified(_ history: Case) throws {
    let undo = UndoStack()
    undo.onDiagnostic = { _ in }
    var place = 0
    try history.run(undo, Page(undo), Page(undo)) { isModified in
      place += 1
      #expect(undo.isModified == isModified, "mark \(place)")
    }
  }
}

@Suite("Limits and names")
struct HistoryTests {
  let undo = UndoStack()

  @Test("the menu titles name the next undo and redo")
  func titles() throws {
    let page = Page(undo)
    #expect(undo.undoTitle == "Undo")
    try page.add(1)
    undo.name = "Add"
    #expect(undo.undoTitle == "Undo Add")
    #expect(undo.redoTitle == "Redo")
    try undo.undo()
    #expect(undo.undoTitle == "Undo")
    #expect(undo.redoTitle == "Redo Add")
  }

  @Test("a name belongs to the outermost open group, and a step names what it records")
  func names() throws {
    let page = Page(undo)
    try page.add(1)
    undo.name = "First"
    try undo.beginGroup()
    try undo.group {
      try page.add(2)
      undo.name = "Second"
    }
    #expect(undo.name == "Second")
    #expect(undo.undoName == "First")
    try undo.endGroup()
    #expect(undo.undoName == "Second")
    page.whenChanged = { undo.name = "Take" }
    try undo.undo()
    #expect(undo.redoName == "Take")
  }
}
