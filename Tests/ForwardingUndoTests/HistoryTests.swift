// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

@Suite("Levels, removal, and the state of the targets")
struct HistoryTests {
  let undo = UndoStack()

  @Test("the oldest undos beyond the limit are removed")
  func levels() throws {
    let page = Page(undo)
    undo.levels = 2
    for number in [1, 2, 4] { try page.add(number) }
    #expect(undo.undoCount == 2)
    while try undo.undo() {}
    #expect(page.count == 1)
    #expect(undo.redoCount == 2)
    undo.levels = 1
    #expect(undo.redoCount == 1)
    try undo.redo()
    #expect(page.count == 3)
    undo.levels = 0
    #expect(undo.undoCount == 0)
    try page.add(1)
    #expect(undo.undoCount == 0)
    undo.levels = nil
    try page.add(1)
    #expect(undo.undoCount == 1)
  }

  @Test("a thousand undos at the limit are removed one by one, in their order")
  func manyLevels() throws {
    let page = Page(undo)
    undo.levels = 40
    for number in 1...1000 { try page.add(number) }
    #expect(undo.steps.map { $0.arguments[0] } == (961...1000).map { "-\($0)" })
    while try undo.undo() {}
    #expect(page.count == 960 * 961 / 2)
  }

  @Test("removeAll(for:) removes the steps of one object, from groups as well")
  func removeTarget() throws {
    let (page, other) = (Page(undo), Page(undo))
    try page.add(1)
    try other.add(1)
    try undo.group("Both") {
      try page.add(2)
      try other.add(2)
      try undo.group { try other.add(4) }
    }
    try page.add(4)
    try undo.undo()
    #expect(undo.removeAll(for: page))
    #expect(!undo.canRedo)
    #expect(
      undo.steps.map(\.description) == ["Page add: -1", "Both: (Page add: -2; (Page add: -4))"])
    while try undo.undo() {}
    #expect(page.count == 3)
    #expect(other.count == 0)
    #expect(!undo.removeAll(for: page))
  }

  @Test("an object can remove its steps in its deinit, at any time")
  func removedByDeinit() throws {
    final class Dying: MethodDeclaring {
      let undo: UndoStack
      let page: Page
      init(_ undo: UndoStack, _ page: Page) { (self.undo, self.page) = (undo, page) }
      static func declareMethods(_ methods: MethodDeclarations) {
        methods.register("go") { (_: Dying) in }
      }
      deinit {
        undo.removeAll(for: self)
        try? page.add(100)
      }
    }
    let page = Page(undo)
    for ending in ["removeAll", "levels", "newRecord", "undo", "removeTarget"] {
      var dying: Dying? = Dying(undo, page)
      undo.levels = nil
      try undo.record(on: dying!, Message<Void>("go"), strongly: true)
      if ending == "newRecord" {
        undo.record(on: page) { [dying] _ in _ = dying }
        undo.onDiagnostic = { _ in }
        undo.removeAll(for: dying!)
      }
      weak let watched = dying
      dying = nil
      #expect(watched != nil)
      switch ending {
      case "removeAll": undo.removeAll()
      case "levels": undo.levels = 0
      case "newRecord": undo.removeAll(for: page)
      case "undo": try undo.undo()
      default: undo.removeAll(for: watched!)
      }
      undo.levels = nil
      undo.removeAll()
      #expect(watched == nil, "\(ending)")
    }
  }

  @Test("undo and redo lead back to the saved state")
  func saved() throws {
    let page = Page(undo)
    #expect(!undo.isModified)
    try page.add(1)
    #expect(undo.isModified)
    try undo.markSaved()
    try page.add(2)
    try undo.undo()
    #expect(!undo.isModified)
    try undo.undo()
    #expect(undo.isModified)
    try undo.redo()
    #expect(!undo.isModified)
    try undo.redo()
    #expect(undo.isModified)
  }

  @Test("a saved state on a dropped branch is never reached again")
  func branch() throws {
    let page = Page(undo)
    try page.add(1)
    try undo.markSaved()
    try undo.undo()
    try page.add(2)
    #expect(undo.isModified)
    try undo.undo()
    #expect(undo.isModified)
  }

  @Test("removing the history does not change whether the targets are modified")
  func forgotten() throws {
    let page = Page(undo)
    try page.add(1)
    undo.removeAll()
    #expect(undo.isModified)
    try undo.markSaved()
    undo.levels = 1
    try page.add(1)
    try page.add(1)
    try undo.undo()
    #expect(undo.isModified)
    try undo.markSaved()
    undo.removeAll()
    #expect(!undo.isModified)
  }

  @Test("after the removal of one object's steps, an undo leads to a state that never existed")
  func removedState() throws {
    let (page, other) = (Page(undo), Page(undo))
    try page.add(1)
    try undo.markSaved()
    try other.add(2)
    undo.removeAll(for: other)
    #expect(undo.isModified)
    try undo.undo()
    #expect(undo.isModified)
    try undo.redo()
    #expect(undo.isModified)
  }

  @Test("removing steps above a saved state keeps that state")
  func removedAbove() throws {
    let (page, other) = (Page(undo), Page(undo))
    try page.add(1)
    try other.add(2)
    try undo.markSaved()
    undo.removeAll(for: other)
    #expect(!undo.isModified)
    try undo.undo()
    #expect(undo.isModified)
    try undo.redo()
    #expect(!undo.isModified)
  }

  @Test("an open group is a modification once it is not empty")
  func openGroup() throws {
    let page = Page(undo)
    try undo.beginGroup()
    #expect(!undo.isModified)
    try page.add(1)
    #expect(undo.isModified)
    try undo.endGroup()
    #expect(undo.isModified)
  }

  @Test("a discardable change is no modification")
  func discardable() throws {
    let page = Page(undo)
    try page.setTitle("seen")
    undo.isDiscardable = true
    #expect(!undo.isModified)
    #expect(undo.isDiscardable)
    try undo.undo()
    #expect(undo.isRedoDiscardable)
    try undo.redo()
    #expect(!undo.isModified)
    try page.add(1)
    #expect(undo.isModified)
    #expect(!undo.isDiscardable)
  }

  @Test("a checkpoint can be reached from both directions")
  func checkpoint() throws {
    let page = Page(undo)
    let start = try undo.checkpoint()
    for number in [1, 2, 4] { try page.add(number) }
    let middle = try undo.checkpoint()
    try page.add(8)
    try undo.go(to: start)
    #expect(page.count == 0)
    #expect(undo.isAt(start))
    try undo.go(to: middle)
    #expect(page.count == 7)
    #expect(undo.isAt(middle) && !undo.isAt(start))
    try undo.go(to: middle)
    try undo.undo()
    try page.add(16)
    #expect(throws: UndoError.self) { try undo.go(to: middle) }
    #expect(throws: UndoError.self) { try UndoStack().go(to: start) }
    #expect(page.count == 19)
  }

  @Test("an undo that recorded nothing has no redo, and the existing redos lead to new states")
  func noWayBack() throws {
    let page = Page(undo)
    let heard = Heard(undo)
    undo.record(on: page, label: "look") { _ in }
    try page.add(1)
    try undo.markSaved()
    try undo.undo()
    try undo.undo()
    #expect(heard.diagnostics == ["'Page look' recorded nothing, so there is no way back"])
    try undo.redo()
    #expect(page.count == 1)
    #expect(undo.isModified)
  }

  @Test("a redo that recorded nothing reaches its state, and the undos below lead to new states")
  func redoWithoutUndo() throws {
    let page = Page(undo)
    undo.onDiagnostic = { _ in }
    try page.add(1)
    try undo.markSaved()
    undo.record(on: page) { page in page.undo.record(on: page) { _ in } }
    try undo.undo()
    #expect(!undo.isModified)
    try undo.redo()
    #expect(undo.isModified)
    try undo.undo()
    #expect(undo.isModified)
  }
}

@Suite("Names and values of undos")
struct NameTests {
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
    undo.titles = UndoTitles(undo: { "\($0 ?? "") zurück" }, redo: { "\($0 ?? "") wieder" })
    #expect(undo.redoTitle == "Add wieder")
    #expect(UndoTitles.title("Undo", "") == "Undo")
  }

  @Test("a name belongs to the outermost open group, and is passed on by undo and redo")
  func groups() throws {
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
    try undo.undo()
    try undo.redo()
    #expect(undo.undoName == "Second")
  }

  @Test("a name set while a step is undone is the name of the redo")
  func whileUndoing() throws {
    let page = Page(undo)
    try page.add(1)
    undo.name = "Add"
    page.whenChanged = { undo.name = "Take" }
    try undo.undo()
    #expect(undo.redoName == "Take")
  }

  @Test("values are passed on as the name is")
  func info() throws {
    let page = Page(undo)
    try undo.group {
      try page.add(1)
      undo.setInfo(7, for: "line")
    }
    try page.add(2)
    undo.setInfo("x", for: "line")
    #expect(undo.undoInfo(for: "line") as? String == "x")
    try undo.undo()
    #expect(undo.undoInfo(for: "line") as? Int == 7)
    #expect(undo.redoInfo(for: "line") as? String == "x")
    undo.setInfo(nil, for: "line")
    #expect(undo.undoInfo(for: "line") == nil)
  }
}
