// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

@Suite("Observers")
struct ObserverTests {
  let undo = UndoStack()

  @Test("an observer is notified of the events in their order")
  func events() throws {
    let page = Page(undo)
    var events: [UndoStack.Event] = []
    let token = undo.observe { _, event in events.append(event) }
    try page.add(1)
    #expect(
      events == [.didOpenGroup(depth: 1), .willCloseGroup(depth: 1), .didCloseGroup(depth: 1)])
    events = []
    try undo.undo()
    #expect(events == [.willUndo, .didUndo])
    try undo.redo()
    #expect(events == [.willUndo, .didUndo, .willRedo, .didRedo])
    events = []
    page.refusal = Refused()
    #expect(throws: UndoError.self) { try undo.undo() }
    undo.removeAll()
    #expect(events == [.willUndo, .failed, .didRemove])
    #expect(undo.removeObserver(token))
    #expect(!undo.removeObserver(token))
    events = []
    try page.add(1)
    #expect(events.isEmpty)
  }

  @Test("an observer is held weakly, and notified as long as it lives")
  func weakly() throws {
    final class View {
      var titles: [String] = []
    }
    let page = Page(undo)
    var view: View? = View()
    weak let watched = view
    undo.observe(by: view!) { view, undo, event in
      if case .didCloseGroup = event { view.titles.append(undo.undoTitle) }
    }
    try undo.group("Add") { try page.add(1) }
    #expect(view?.titles == ["Undo Add"])
    view = nil
    #expect(watched == nil)
    try page.add(1)
  }

  @Test("records made before a group closes or an undo begins are part of it")
  func recording() throws {
    let page = Page(undo)
    var pending = false
    undo.observe { _, event in
      guard pending else { return }
      switch event {
      case .willCloseGroup, .willUndo:
        pending = false
        try? page.add(10)
      default: break
      }
    }
    pending = true
    try page.add(1)
    #expect(undo.undoCount == 1)
    #expect(undo.steps[0].steps.count == 2)
    pending = true
    try undo.undo()
    #expect(page.count == 11)
    #expect(undo.undoCount == 1)
  }

  @Test(
    "an observer can call any function; operations that are impossible at that time are refused")
  func reentrant() throws {
    let page = Page(undo)
    var refused = 0
    var token: UndoStack.ObserverToken?
    token = undo.observe { undo, event in
      switch event {
      case .willUndo, .willRedo:
        do { try undo.undo() } catch { refused += 1 }
      case .didOpenGroup, .willCloseGroup:
        do { try undo.endGroup() } catch { refused += 1 }
        undo.endEvent()
      case .didUndo:
        undo.removeAll()
        token.map { _ = undo.removeObserver($0) }
      case .didCloseGroup, .didRedo, .failed, .didRemove: break
      }
    }
    try page.add(1)
    try undo.group { try page.add(2) }
    #expect(refused >= 3)
    #expect(undo.groupDepth == 0)
    try undo.undo()
    #expect(undo.undoCount == 0)
    #expect(undo.redoCount == 0)
  }
}
