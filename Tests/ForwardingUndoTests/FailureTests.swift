// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

@Suite("Failing undos")
struct FailureTests {
  let undo = UndoStack()

  @Test("a step that throws leaves the stack as it was, and can be retried")
  func one() throws {
    let page = Page(undo)
    try page.add(1)
    let before = undo.steps
    page.refusal = Refused()
    let error = #expect(throws: UndoError.self) { try undo.undo() }
    guard case .failed(let step, let cause, let rollback)? = error else {
      Issue.record("\(error!)")
      return
    }
    #expect("\(step)" == "Page add: -1")
    #expect(cause is Refused)
    #expect(rollback.isEmpty)
    #expect(undo.steps == before)
    #expect(!undo.canRedo)
    #expect(page.count == 1)
    try undo.undo()
    #expect(page.count == 0)
  }

  @Test("steps undone before the one that throws are done again")
  func group() throws {
    let (page, other) = (Page(undo), Page(undo))
    try undo.group {
      try page.setTitle("one")
      try other.add(1)
      try page.setTitle("two")
    }
    let before = undo.steps
    other.refusal = Refused()
    #expect(throws: UndoError.self) { try undo.undo() }
    #expect(page.title == "two")
    #expect(other.count == 1)
    #expect(undo.steps == before)
    #expect(undo.redoSteps == [])
    try undo.undo()
    #expect(page.title == "")
    #expect(other.count == 0)
  }

  @Test("a redo that fails can be retried")
  func redo() throws {
    let page = Page(undo)
    try undo.group("Both") {
      try page.add(1)
      try page.setTitle("one")
    }
    try undo.undo()
    page.whenChanged = { page.whenChanged = { throw Refused() } }
    #expect(throws: UndoError.self) { try undo.redo() }
    #expect(page.count == 0)
    #expect(undo.redoName == "Both")
    #expect(!undo.canUndo)
    try undo.redo()
    #expect(page.title == "one")
  }

  @Test("an error of the rollback is reported with the first error")
  func rollback() throws {
    let (page, other) = (Page(undo), Page(undo))
    try undo.group {
      try page.add(1)
      try other.add(2)
    }
    try undo.markSaved()
    page.whenChanged = {
      other.refusal = Refused()
      throw Refused()
    }
    let error = #expect(throws: UndoError.self) { try undo.undo() }
    guard case .failed(_, _, let rollback)? = error else { return }
    #expect(rollback.count == 1)
    #expect(undo.undoCount == 1)
    // The state of the targets is unknown, but it is not the one before.
    #expect(other.count == 0)
    #expect(undo.isModified)
  }

  @Test("an async step is refused by an undo that is not awaited")
  func notAwaited() throws {
    let page = Page(undo)
    undo.record(on: page) { (_: Page) async in await Task.yield() }
    let error = #expect(throws: UndoError.self) { try undo.undo() }
    guard case .failed(_, InvocationError.notAwaited, _)? = error else {
      Issue.record("\(error!)")
      return
    }
    #expect(undo.undoCount == 1)
  }

  @Test(
    "an undo during another undo is an error, and changes nothing",
    arguments: ["undo", "redo", "mark"])
  func inside(what: String) throws {
    let page = Page(undo)
    try page.add(1)
    try page.add(2)
    var caught: (any Error)?
    page.whenChanged = {
      #expect(!undo.canUndo && !undo.canRedo && undo.isUndoing && !undo.isRedoing)
      do {
        switch what {
        case "undo": try undo.undo()
        case "redo": try undo.redo()
        default: try undo.markSaved()
        }
      } catch { caught = error }
    }
    try undo.undo()
    guard case UndoError.busy? = caught else {
      Issue.record("\(String(describing: caught))")
      return
    }
    #expect(page.count == 1)
    #expect(undo.undoCount == 1)
    #expect(undo.redoCount == 1)
  }

  @Test("a group that a method leaves open is closed with the undo, and reported")
  func leftOpen() throws {
    let page = Page(undo)
    let heard = Heard(undo)
    try page.add(1)
    page.whenChanged = { try undo.beginGroup("Forgotten") }
    try undo.undo()
    #expect(undo.groupDepth == 0)
    #expect(heard.diagnostics == ["the group 'Forgotten' was left open"])
    try undo.redo()
    #expect(page.count == 1)
  }

  @Test("a method that ends a group it did not begin gets an error")
  func endedTooOften() throws {
    let page = Page(undo)
    try page.add(1)
    page.whenChanged = { #expect(throws: UndoError.self) { try undo.endGroup() } }
    try undo.undo()
    #expect(page.count == 0)
  }
}
