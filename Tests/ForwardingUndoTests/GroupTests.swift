// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

// What groups hold, and how they nest, is a rule of the model.
@Suite("Groups")
struct GroupTests {
  let undo = UndoStack()

  @Test("an open group refuses undos and marks, and the error has its depth")
  func open() throws {
    let page = Page(undo)
    try page.add(1)
    try undo.beginGroup()
    try page.add(2)
    for refused in [{ _ = try undo.undo() }, { _ = try undo.redo() }, { try undo.markSaved() }]
      as [() throws -> Void]
    {
      let error = #expect(throws: UndoError.self) { try refused() }
      #expect("\(error!)" == "a group is open, 1 deep: call 'endGroup' first")
    }
    try undo.endGroup()
    let error = #expect(throws: UndoError.self) { try undo.endGroup() }
    #expect("\(error!)" == "no group is open: call 'beginGroup' before 'endGroup'")
    try undo.undo()
    #expect(page.count == 1)
  }

  @Test("a group that a body leaves open is closed with the body's group, and reported")
  func leftOpen() throws {
    let page = Page(undo)
    let heard = Heard(undo)
    try undo.group {
      try undo.beginGroup("Forgotten")
      try page.add(1)
    }
    #expect(undo.groupDepth == 0)
    #expect(undo.undoCount == 1)
    #expect(heard.diagnostics == ["the group 'Forgotten' was left open, so it was closed"])
  }

  @Test("a hundred groups can be nested, and no more")
  func tooDeep() throws {
    let page = Page(undo)
    for _ in 0..<100 { try undo.beginGroup() }
    for _ in 0..<2 {
      let error = #expect(throws: UndoError.self) { try undo.beginGroup() }
      let limit = "100 groups are open inside of each other: end one first"
      #expect("\(error!)" == limit)
    }
    #expect(throws: UndoError.self) { try undo.group { try page.add(1) } }
    try page.add(2)
    #expect(undo.groupDepth == 100)
    for _ in 0..<100 { try undo.endGroup() }
    #expect(undo.steps[0].hasPrefix("(((("))
    try undo.undo()
    #expect(page.count == 0)
    undo.groupsByEvent = true
    for _ in 0..<99 { try undo.beginGroup() }
    #expect(throws: UndoError.self) { try undo.beginGroup() }
  }
}

@Suite("Groups by event")
struct EventTests {
  let undo = UndoStack()

  @Test("an event begins with its first record, and ending it at once makes one undo of each")
  func atOnce() throws {
    let page = Page(undo)
    undo.groupsByEvent = true
    var begun = 0
    undo.onEvent = { begun += 1 }
    try page.add(1)
    try page.add(2)
    #expect(begun == 1)
    undo.endEvent()
    undo.onEvent = { undo.endEvent() }
    try page.add(1)
    try page.add(2)
    #expect(undo.undoCount == 3)
  }
}
