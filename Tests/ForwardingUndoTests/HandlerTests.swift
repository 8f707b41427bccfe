// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

@Suite("Handlers")
struct HandlerTests {
  let undo = UndoStack()

  @Test("a handler is called before a group closes or an undo begins, and after each change")
  func events() throws {
    let page = Page(undo)
    var events = ""
    undo.onCheckpoint = { events += "before " }
    undo.onChange = { events += "after " }
    func expect(_ expected: String, _ change: () throws -> Void) {
      events = ""
      try? change()
      #expect(events == expected)
    }
    expect("after ") { try page.add(1) }
    expect("after ") { undo.name = "Add" }
    expect("after before after ") { try undo.group { try page.add(1) } }
    expect("before after ") { try undo.undo() }
    expect("before after ") { try undo.redo() }
    page.refusal = Refused()
    expect("before after ") { try undo.undo() }
    undo.onDiagnostic = { _ in }
    undo.removeAll()
    try Page(undo).add(1)
    expect("before after ") { _ = try undo.undo() }
    try page.add(1)
    expect("after ") { undo.removeAll(for: page) }
    expect("") { undo.removeAll(for: page) }
    expect("after ") { undo.removeAll() }
  }

  @Test("records made before a group closes or an undo begins are part of it")
  func recording() throws {
    let page = Page(undo)
    var pending = false
    undo.onCheckpoint = {
      if pending { try? page.add(10) }
      pending = false
    }
    pending = true
    try undo.group { try page.add(1) }
    #expect(undo.undoCount == 1)
    #expect(undo.steps == ["(Page add: -1; Page add: -10)"])
    pending = true
    try undo.undo()
    #expect(page.count == 11)
    #expect(undo.undoCount == 1)
  }

  @Test("a handler can call any function, and is not called for that")
  func reentrant() throws {
    let page = Page(undo)
    var refused = 0
    undo.onCheckpoint = {
      do { try undo.undo() } catch { refused += 1 }
      do { try undo.beginGroup() } catch { refused += 1 }
      do { try undo.endGroup() } catch { refused += 1 }
      do { try undo.endGroup() } catch { refused += 1 }
      undo.endEvent()
    }
    undo.onChange = {
      if undo.redoCount > 0 { undo.removeAll() }
    }
    for number in 1...2 { try undo.group { try page.add(number) } }
    #expect(undo.groupDepth == 0)
    #expect(refused == 2)
    // The handler has undone the newer group, and this the older one.
    try undo.undo()
    #expect(page.count == 0)
    #expect((undo.undoCount, undo.redoCount) == (0, 0))
  }
}
