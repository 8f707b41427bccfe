// SPDX-License-Identifier: Apache-2.0
import Forwarding
@testable import ForwardingUndo
import Testing

@Suite("The way to a checkpoint")
struct PlaceTests {
  let undo = UndoStack()

  /// The error of going to a checkpoint, as text; nil if it succeeds.
  private func refusal(of checkpoint: UndoCheckpoint) -> String? {
    do { try undo.go(to: checkpoint) } catch { return "\(error)" }
    return nil
  }

  private let unreachable = "no undo or redo leads to the checkpoint"

  @Test("if an object on the way has died, nothing is undone", arguments: [false, true])
  func deadBetween(inGroup: Bool) throws {
    let page = Page(undo)
    try page.add(1)
    let place = try undo.checkpoint()
    var other: Page? = Page(undo)
    try undo.beginGroup()
    try other?.add(2)
    if inGroup { try page.add(4) }
    try undo.endGroup()
    other = nil
    try page.add(8)
    let (count, steps) = (page.count, undo.steps)
    #expect(refusal(of: place) == unreachable)
    #expect(page.count == count)
    #expect(undo.steps == steps)
    #expect(!undo.canRedo)
  }

  @Test("if an object dies on the way, the undone steps are done again")
  func diesOnTheWay() throws {
    let page = Page(undo)
    let place = try undo.checkpoint()
    var other: Page? = Page(undo)
    try other?.add(2)
    undo.record(on: page) { page in try page.add(16) }
    try page.add(8)
    let steps = undo.steps.map(\.message)
    page.whenChanged = { other = nil }
    undo.onDiagnostic = { _ in }
    #expect(refusal(of: place) == unreachable)
    #expect(page.count == 8)
    #expect(undo.steps.map(\.message) == steps)
    #expect(!undo.canRedo)
  }

  @Test("a step that throws on the way leaves everything as it was", arguments: ["undo", "redo"])
  func failing(direction: String) throws {
    let (page, other) = (Page(undo), Page(undo))
    let start = try undo.checkpoint()
    try page.add(1)
    try other.add(2)
    try page.add(4)
    let end = try undo.checkpoint()
    if direction == "redo" { try undo.go(to: start) }
    let (count, steps, redoSteps) = (page.count, undo.steps, undo.redoSteps)
    other.refusal = Refused()
    let message = refusal(of: direction == "redo" ? end : start)
    #expect(message?.hasPrefix("'Page add:") == true)
    #expect(page.count == count)
    #expect(undo.steps == steps)
    #expect(undo.redoSteps == redoSteps)
    #expect(undo.isAt(direction == "redo" ? start : end))
    try undo.go(to: direction == "redo" ? end : start)
    #expect(page.count == (direction == "redo" ? 5 : 0))
  }

  @Test("a step that recorded nothing cannot be done again, so the state is unknown")
  func noWayBack() throws {
    let (page, other) = (Page(undo), Page(undo))
    undo.onDiagnostic = { _ in }
    let start = try undo.checkpoint()
    try other.add(2)
    undo.record(on: page) { _ in }
    try undo.markSaved()
    other.refusal = Refused()
    #expect(refusal(of: start) != nil)
    #expect(undo.undoCount == 2)
    #expect(undo.isModified)
  }

  @Test("an observer that records after each undo is notified of one, and the way ends")
  func recordingObserver() throws {
    let page = Page(undo)
    let start = try undo.checkpoint()
    for number in 1...3 { try page.add(number) }
    var told: [UndoStack.Event] = []
    undo.observe { undo, event in
      told.append(event)
      if event == .didUndo { undo.record(on: page) { _ in } }
    }
    try undo.go(to: start)
    #expect(page.count == 0)
    #expect(told == [.willUndo, .didUndo])
    #expect(undo.undoCount == 1)
  }

  @Test("a record made just before the way is undone as well")
  func recordedBefore() throws {
    let page = Page(undo)
    let start = try undo.checkpoint()
    try page.add(1)
    undo.observe { _, event in if event == .willUndo { try? page.add(10) } }
    try undo.go(to: start)
    #expect(page.count == 0)
    #expect(undo.redoCount == 2)
  }

  @Test(
    "a method on the way can remove everything, and the removal takes effect",
    arguments: [true, false])
  func removedOnTheWay(all: Bool) throws {
    let (page, other) = (Page(undo), Page(undo))
    let start = try undo.checkpoint()
    try other.add(1)
    try page.add(2)
    try page.add(4)
    try undo.markSaved()
    page.whenChanged = { if all { undo.removeAll() } else { undo.removeAll(for: other) } }
    #expect(refusal(of: start) == unreachable)
    #expect(undo.undoCount == (all ? 0 : 2))
    #expect(!undo.canRedo)
    #expect(other.count == 1)
    // Records made after the removal are done again.
    #expect(page.count == 6)
    #expect(undo.isModified)
  }

  @Test("a limit that removes a part of the way leaves the remaining entries as they were")
  func cut() throws {
    let page = Page(undo)
    let start = try undo.checkpoint()
    for number in [1, 2, 4, 8] { try page.add(number) }
    page.whenChanged = { undo.levels = 1 }
    #expect(refusal(of: start) == unreachable)
    #expect(page.count == 15)
    #expect(!undo.canRedo)
  }

  @Test("discardable entries are not part of the way, whether their targets live or not")
  func discardable() throws {
    let page = Page(undo)
    undo.onDiagnostic = { _ in }
    try page.add(1)
    let place = try undo.checkpoint()
    var other: Page? = Page(undo)
    try other?.setTitle("selected")
    undo.isDiscardable = true
    other = nil
    #expect(undo.isAt(place))
    try page.add(2)
    try undo.go(to: place)
    #expect(page.count == 1)
    #expect(undo.isAt(place))
    #expect(undo.undoCount == 2)
    try undo.undo()
    #expect(page.count == 0)
    try undo.redo()
    #expect(undo.isAt(place))
  }

  @Test("a state that became discardable is unreachable, and nothing is undone")
  func discardableSince() throws {
    let page = Page(undo)
    try page.add(1)
    let place = try undo.checkpoint()
    undo.isDiscardable = true
    try page.add(2)
    #expect(refusal(of: place) == unreachable)
    #expect(page.count == 3)
  }

  @Test("a checkpoint of a deallocated stack belongs to no other stack")
  func otherStack() throws {
    var gone: UndoCheckpoint?
    do { gone = try UndoStack().checkpoint() }
    let checkpoint = try #require(gone)
    for _ in 0..<1000 {
      let next = UndoStack()
      #expect(!next.isAt(checkpoint))
      #expect(throws: UndoError.self) { try next.go(to: checkpoint) }
    }
  }
}
