// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

// What groups hold, and how they nest, is a rule of the model.
@Suite("Groups, events, names and misuse")
struct GroupTests {
  let undo = UndoStack()

  @Test("each misuse is an error that says what to do, and changes nothing")
  func misuses() throws {
    let page = Page(undo)
    func refuses(_ text: String, _ misuses: [() throws -> Void]) {
      let before = (undo.undoCount, undo.redoCount, undo.groupDepth)
      for misuse in misuses {
        let error = #expect(throws: UndoError.self) { try misuse() }
        #expect("\(error!)" == text)
        #expect((undo.undoCount, undo.redoCount, undo.groupDepth) == before)
      }
    }
    let changes: [() throws -> Void] = [
      { _ = try undo.undo() }, { _ = try undo.redo() }, { try undo.markSaved() },
    ]
    let noGroup = "no group is open: call 'beginGroup' before 'endGroup'"
    refuses(noGroup, [{ try undo.endGroup() }])
    refuses(
      "recording is not disabled: call 'disableRecording' first", [{ try undo.enableRecording() }])
    try page.add(1)
    try undo.beginGroup()
    refuses("a group is open, 1 deep: call 'endGroup' first", changes)
    for _ in 0..<99 { try undo.beginGroup() }
    let begin = { try undo.beginGroup() }
    let tooDeep = "100 groups are open inside of each other: end one first"
    refuses(tooDeep, [begin, begin, { try undo.group { try page.add(1) } }])
    try page.add(2)
    for _ in 0..<100 { try undo.endGroup() }
    #expect(undo.steps[1].hasPrefix("(((("))
    var isUndoing = false
    page.whenChanged = {
      isUndoing = undo.isUndoing && !undo.isRedoing && !undo.canUndo && !undo.canRedo
      #expect(undo.isModified)
      refuses("the stack is undoing or redoing: try again when that has ended", changes)
      refuses(noGroup, [{ try undo.endGroup() }])
    }
    try undo.undo()
    #expect(isUndoing && page.count == 1)
    // An event counts as a group.
    undo.groupsByEvent = true
    for _ in 0..<99 { try undo.beginGroup() }
    refuses(tooDeep, [begin])
  }

  @Test("a group that a body or a step leaves open is closed with its own group, and reported")
  func leftOpen() throws {
    let page = Page(undo)
    let heard = Heard(undo)
    let leaveOpen = {
      try undo.group { try page.add(10) }
      try undo.beginGroup("Forgotten")
    }
    try undo.group {
      try leaveOpen()
      try page.add(1)
    }
    page.whenChanged = leaveOpen
    try undo.undo()
    #expect(undo.groupDepth == 0)
    let report = "the group 'Forgotten' was left open, so it was closed"
    #expect(heard.diagnostics == [report, report])
    #expect(undo.redoSteps == ["((Page add: -10); Page add: 1; Page add: 10)"])
    try undo.redo()
    #expect(page.count == 11)
  }

  @Test("an event begins with its first record, and ending it at once makes one undo of each")
  func events() throws {
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

  @Test("a step names what it records")
  func namingStep() throws {
    let page = Page(undo)
    try page.add(1)
    page.whenChanged = { undo.name = "Take" }
    try undo.undo()
    #expect((undo.undoTitle, undo.redoTitle) == ("Undo", "Redo Take"))
  }

  @Test("a group that joins an entry names it only if it has no name")
  func joinedNames() throws {
    let page = Page(undo)
    for (name, expected) in [(nil, nil), ("Type", "Type"), ("Paste", "Type")]
      as [(String?, String?)]
    {
      try undo.group(name) { try page.add(1, coalescing: .join("typing")) }
      #expect(undo.undoName == expected)
    }
    #expect(undo.undoCount == 1)
  }
}
