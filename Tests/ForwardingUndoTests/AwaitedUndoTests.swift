// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

/// Suspends a task until the test opens the gate.
@MainActor
final class Gate {
  private var waiting: CheckedContinuation<Void, Never>?
  private(set) var isReached = false

  func wait() async {
    isReached = true
    await withCheckedContinuation { waiting = $0 }
  }

  func open() { waiting?.resume() }

  func reached() async { while !isReached { try? await Task.sleep(for: .milliseconds(1)) } }
}

@MainActor
@Suite("Awaited undos")
struct AwaitedUndoTests {
  let undo = UndoStack()

  #if Macros
    @Test("an async requirement is recorded immediately and awaited by the undo")
    func face() async throws {
      let text = Text(undo)
      try await text.save("one")
      try await text.save("two")
      try await undo.undo()
      #expect(text.text == "one")
      try await undo.undo()
      try await undo.redo()
      #expect(text.text == "one")
      #expect(text.saved == ["one", "two", "one", "", "one"])
    }

    @Test("a step that throws in an awaited undo is taken back with the steps before it")
    func failing() async throws {
      let text = Text(undo)
      try undo.beginGroup()
      try await text.save("one")
      text.insert("!", at: 3)
      try undo.endGroup()
      let before = undo.steps
      text.whenSaving = {
        await Task.yield()
        throw Refused()
      }
      await #expect(throws: UndoError.self) { try await undo.undo() }
      #expect(text.text == "one!")
      #expect(undo.steps == before)
      text.whenSaving = nil
      try await undo.undo()
      #expect(text.text == "")
      #expect(!undo.canUndo)
    }
  #endif

  @Test("an undo performs steps of all kinds on the actor of its caller")
  func kinds() async throws {
    let page = Page(undo)
    try undo.beginGroup()
    try page.add(1)
    undo.record(on: page) { page in
      MainActor.assertIsolated()
      await Task.yield()
      MainActor.assertIsolated()
      try page.setTitle("awaited")
    }
    undo.record(on: page) { try $0.add(10) }
    try undo.endGroup()
    try await undo.undo()
    #expect(page.title == "awaited")
    #expect(page.count == 10)
    try await undo.redo()
    #expect(page.title == "")
    #expect(page.count == 1)
  }

  @Test("another task that records during an awaited undo gets an undo of its own, and cannot undo")
  func meanwhile() async throws {
    let page = Page(undo)
    let gate = Gate()
    undo.record(on: page) { page in
      try page.add(1)
      await gate.wait()
      try page.add(2)
    }
    let undoing = Task { try await undo.undo() }
    await gate.reached()
    #expect(undo.isUndoing)
    try page.setTitle("meanwhile")
    await #expect(throws: UndoError.self) { try await undo.undo() }
    #expect(throws: UndoError.self) { try undo.beginGroup() }
    gate.open()
    _ = try await undoing.value
    #expect(page.count == 3)
    #expect(undo.steps.map(\.description) == ["Page setTitle: \"\""])
    // It was added after the undo, so it dropped the redo.
    #expect(!undo.canRedo)
    try await undo.undo()
    #expect(page.title == "")
    #expect(page.count == 3)
  }

  @Test(
    "another task cannot begin a group during an awaited undo, and its body does not run",
    arguments: [true, false])
  func groupMeanwhile(undoingErrors: Bool) async throws {
    let page = Page(undo)
    let gate = Gate()
    undo.record(on: page) { page in
      // A group that the step begins is part of the redo.
      try undo.group { try page.add(1) }
      await gate.wait()
    }
    let undoing = Task { try await undo.undo() }
    await gate.reached()
    let error = #expect(throws: UndoError.self) {
      try undo.group("Move", undoingErrors: undoingErrors) { try page.setTitle("meanwhile") }
    }
    guard case .busy? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(page.title == "")
    gate.open()
    _ = try await undoing.value
    #expect(undo.groupDepth == 0)
    #expect((undo.undoCount, undo.redoCount) == (0, 1))
    try undo.group("Move") { try page.setTitle("afterwards") }
    #expect(undo.undoName == "Move")
  }

  @Test("another task names and marks its own records during an awaited undo")
  func namedMeanwhile() async throws {
    let page = Page(undo)
    let gate = Gate()
    undo.record(on: page) { page in
      try page.add(1)
      await gate.wait()
      undo.name = "Add"
      try page.add(2)
    }
    undo.name = "Step"
    undo.setInfo(1, for: "line")
    let undoing = Task { try await undo.undo() }
    await gate.reached()
    undo.name = "of nothing"
    try page.setTitle("meanwhile")
    undo.name = "Mine"
    undo.setInfo(2, for: "line")
    undo.isDiscardable = true
    #expect(undo.name == "Mine" && undo.undoName == "Mine" && undo.isDiscardable)
    #expect(undo.undoInfo(for: "line") as? Int == 2)
    gate.open()
    _ = try await undoing.value
    #expect(undo.undoName == "Mine")
    #expect(undo.isDiscardable)
    #expect(undo.undoInfo(for: "line") as? Int == 2)
    #expect(undo.undoCount == 1)
  }

  @Test("an event of another task during an awaited undo has the name that this task sets")
  func eventMeanwhile() async throws {
    let page = Page(undo)
    let gate = Gate()
    undo.record(on: page) { page in
      await gate.wait()
      try page.add(2)
    }
    undo.groupsByEvent = true
    let undoing = Task { try await undo.undo() }
    await gate.reached()
    for title in ["one", "two"] {
      try page.setTitle(title)
      undo.name = title
    }
    gate.open()
    _ = try await undoing.value
    #expect(undo.undoTitle == "Undo two")
    #expect(undo.undoCount == 1)
    try await undo.undo()
    #expect(page.title == "")
    #expect(undo.redoName == "two")
  }

  @Test("steps of an awaited undo and other tasks disable recording independently of each other")
  func disabledMeanwhile() async throws {
    let page = Page(undo)
    let gates = [Gate(), Gate()]
    undo.record(on: page) { page in
      await gates[0].wait()
      try page.add(1)
      undo.disableRecording()
      await gates[1].wait()
      try page.add(2)
      try undo.enableRecording()
      #expect(throws: UndoError.self) { try undo.enableRecording() }
    }
    let undoing = Task { try await undo.undo() }
    await gates[0].reached()
    undo.disableRecording()
    try page.setTitle("not recorded")
    gates[0].open()
    await gates[1].reached()
    #expect(!undo.isRecordingEnabled)
    try undo.enableRecording()
    #expect(undo.isRecordingEnabled)
    #expect(throws: UndoError.self) { try undo.enableRecording() }
    try page.setTitle("recorded")
    undo.disableRecording()
    gates[1].open()
    _ = try await undoing.value
    #expect(!undo.isRecordingEnabled)
    try undo.enableRecording()
    #expect(undo.steps.map(\.description) == ["Page setTitle: \"not recorded\""])
    #expect(page.count == 3)
  }

  @Test("a record of a step's child task is part of the redo")
  func children() async throws {
    let page = Page(undo)
    undo.record(on: page) { page in
      let child = Task { @MainActor in try page.add(5) }
      try await child.value
    }
    try await undo.undo()
    #expect(undo.redoCount == 1)
    #expect(!undo.canUndo)
    try await undo.redo()
    #expect(page.count == 0)
  }

  @Test("an undo whose task is cancelled fails with its step, and the stack is as it was")
  func cancelled() async throws {
    let page = Page(undo)
    let gate = Gate()
    try undo.beginGroup()
    undo.record(on: page) { _ in
      await gate.wait()
      try Task.checkCancellation()
    }
    try page.add(1)
    try undo.endGroup()
    let undoing = Task { try await undo.undo() }
    await gate.reached()
    undoing.cancel()
    gate.open()
    await #expect(throws: UndoError.self) { try await undoing.value }
    #expect(page.count == 1)
    #expect(undo.undoCount == 1)
  }
}
