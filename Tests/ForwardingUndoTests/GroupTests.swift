// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Foundation
import Testing

@Suite("Groups")
struct GroupTests {
  let undo = UndoStack()

  @Test("one undo undoes a whole group, newest step first, and one redo redoes it")
  func byHand() throws {
    let page = Page(undo)
    try undo.beginGroup("Move")
    try page.setTitle("one")
    try page.setTitle("two")
    try undo.endGroup()
    #expect(undo.undoCount == 1)
    try undo.undo()
    #expect(page.title == "")
    try undo.redo()
    #expect(page.title == "two")
    #expect(undo.undoName == "Move")
  }

  @Test("nested groups are undone with the outer group")
  func nested() throws {
    let page = Page(undo)
    try undo.group("Outer") {
      try page.add(1)
      try undo.group("Inner") {
        try page.add(2)
        try page.add(3)
        #expect(undo.groupDepth == 2)
      }
      try page.add(4)
    }
    #expect(undo.steps.map(\.description)[0].hasPrefix("Outer: (Page add: -1; Inner: ("))
    try undo.undo()
    #expect(page.count == 0)
    try undo.redo()
    #expect(page.count == 10)
  }

  @Test("undoNestedGroup undoes only the last nested group of the open group")
  func undoNestedGroup() throws {
    let page = Page(undo)
    try undo.beginGroup()
    try page.add(1)
    try undo.group("Inner") {
      try page.add(2)
      try page.add(4)
    }
    #expect(try undo.undoNestedGroup())
    #expect(page.count == 1)
    #expect(throws: UndoError.self) { try undo.undoNestedGroup() }
    try undo.endGroup()
    #expect(undo.redoName == "Inner")
    try undo.redo()
    #expect(page.count == 7)
    #expect(try undo.undoNestedGroup())
    #expect(page.count == 1)
  }

  @Test("an empty group leaves no undo")
  func empty() throws {
    try undo.group("Nothing") {}
    #expect(!undo.canUndo)
    #expect(undo.steps == [])
  }

  @Test("an open group refuses undos and marks, and the error has its depth")
  func open() throws {
    let page = Page(undo)
    try page.add(1)
    try undo.beginGroup()
    try page.add(2)
    #expect(!undo.canUndo)
    for refused in [{ _ = try undo.undo() }, { _ = try undo.redo() }, { try undo.markSaved() }]
      as [() throws -> Void]
    {
      let error = #expect(throws: UndoError.self) { try refused() }
      #expect("\(error!)" == "a group is open, 1 deep; end it first")
    }
    try undo.endGroup()
    try undo.undo()
    #expect(page.count == 1)
  }

  @Test("a group can be ended only once")
  func endedTwice() throws {
    #expect(throws: UndoError.self) { try undo.endGroup() }
    try undo.beginGroup()
    try undo.endGroup()
    #expect(throws: UndoError.self) { try undo.endGroup() }
  }

  @Test("a group whose body throws keeps its records, or undoes them if undoingErrors is set")
  func throwing() throws {
    let page = Page(undo)
    #expect(throws: Refused.self) {
      try undo.group {
        try page.add(1)
        throw Refused()
      }
    }
    #expect(page.count == 1)
    #expect(undo.undoCount == 1)
    #expect(throws: Refused.self) {
      try undo.group(undoingErrors: true) {
        try page.add(2)
        try undo.group { try page.add(4) }
        throw Refused()
      }
    }
    #expect(page.count == 1)
    #expect(undo.undoCount == 1)
    #expect(!undo.canRedo)
    #expect(undo.groupDepth == 0)
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
    #expect(heard.diagnostics == ["the group 'Forgotten' was left open"])
  }

  @Test("a method can group what it records for the redo")
  func whileUndoing() throws {
    let page = Page(undo)
    try page.add(1)
    page.whenChanged = { try undo.group { try page.add(10) } }
    try undo.undo()
    #expect(page.count == 10)
    #expect(undo.redoCount == 1)
    try undo.redo()
    #expect(page.count == 1)
  }
}

extension GroupTests {
  @Test("a hundred groups can be nested, and no more")
  func tooDeep() throws {
    let page = Page(undo)
    for _ in 0..<100 { try undo.beginGroup() }
    for _ in 0..<2 {
      let error = #expect(throws: UndoError.self) { try undo.beginGroup() }
      #expect("\(error!)" == "100 groups are open inside of each other; that is the limit")
    }
    #expect(throws: UndoError.self) { try undo.group { try page.add(1) } }
    try page.add(2)
    #expect(undo.groupDepth == 100)
    for _ in 0..<100 { try undo.endGroup() }
    let written = try JSONEncoder().encode(undo.steps)
    #expect(try JSONDecoder().decode([UndoStep].self, from: written) == undo.steps)
    #expect(undo.steps[0].description.hasPrefix("(((("))
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

  @Test("one undo undoes all records of an event")
  func event() throws {
    let page = Page(undo)
    undo.groupsByEvent = true
    var begun = 0
    undo.onEvent = { begun += 1 }
    try page.add(1)
    try page.add(2)
    #expect(begun == 1)
    undo.endEvent()
    try page.add(4)
    undo.endEvent()
    #expect(begun == 2)
    #expect(undo.undoCount == 2)
    try undo.undo()
    #expect(page.count == 3)
    try undo.undo()
    #expect(page.count == 0)
  }

  @Test("an undo ends the open event")
  func undoEnds() throws {
    let page = Page(undo)
    undo.groupsByEvent = true
    try page.add(1)
    try page.add(2)
    #expect(undo.canUndo)
    #expect(undo.undoCount == 1)
    try undo.undo()
    #expect(page.count == 0)
  }

  @Test("an explicit group is nested in its event, which lasts until the group has ended")
  func byHand() throws {
    let page = Page(undo)
    undo.groupsByEvent = true
    try undo.beginGroup("Drag")
    #expect(undo.groupDepth == 2)
    try page.add(1)
    undo.endEvent()
    try page.add(2)
    try undo.endGroup()
    #expect(undo.groupDepth == 0)
    #expect(undo.undoCount == 1)
    try undo.undo()
    #expect(page.count == 0)
  }

  @Test("ending each event immediately makes one undo of each record")
  func atOnce() throws {
    let page = Page(undo)
    undo.groupsByEvent = true
    undo.onEvent = { undo.endEvent() }
    try page.add(1)
    try page.add(2)
    #expect(undo.undoCount == 2)
  }

  @Test("switching groups by event off ends the open event")
  func switchedOff() throws {
    let page = Page(undo)
    undo.groupsByEvent = true
    try page.add(1)
    undo.groupsByEvent = false
    #expect(undo.groupDepth == 0)
    try page.add(2)
    #expect(undo.undoCount == 2)
  }

  @MainActor
  @Test("a turn of the main actor is an event")
  func turns() async throws {
    let undo = UndoStack()
    let page = Page(undo)
    try undo.groupByTurns()
    try page.add(1)
    try page.add(2)
    #expect(undo.groupDepth == 1)
    while undo.groupDepth > 0 { try await Task.sleep(for: .milliseconds(1)) }
    try page.add(4)
    while undo.groupDepth > 0 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(undo.undoCount == 2)
    try await undo.undo()
    #expect(page.count == 3)
  }

  /// An actor that owns a stack.
  private actor Room {
    let undo = UndoStack()
    lazy var page = Page(undo)

    func begin() throws { try undo.groupByTurns() }
    func add(_ numbers: [Int]) throws { for number in numbers { try page.add(number) } }
    var isOpen: Bool { undo.groupDepth > 0 }
    var count: Int { undo.undoCount }
  }

  @Test("a turn of any actor is an event")
  func anyActor() async throws {
    let room = Room()
    try await room.begin()
    try await room.add([1, 2])
    while await room.isOpen { try await Task.sleep(for: .milliseconds(1)) }
    try await room.add([4])
    while await room.isOpen { try await Task.sleep(for: .milliseconds(1)) }
    #expect(await room.count == 2)
  }

  @Test("groupByTurns throws if the caller is on no actor")
  func nowhere() {
    #expect(throws: UndoError.self) { try undo.groupByTurns() }
    #expect(!undo.groupsByEvent)
  }
}
