// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

/// A number whose changes and their undos are async.
private final class Slow {
  let undo: UndoStack
  private(set) var value = 0
  /// The next change awaits this before it changes the number.
  var whenChanged: (nonisolated(nonsending) () async throws -> Void)?

  init(_ undo: UndoStack) { self.undo = undo }

  nonisolated(nonsending) func set(_ new: Int) async throws {
    let body = whenChanged
    whenChanged = nil
    await Task.yield()
    try await body?()
    undo.record(on: self, label: "set") { [value] slow in try await slow.set(value) }
    value = new
  }
}

@MainActor
@Suite("Awaited ways to a checkpoint")
struct AwaitedWayTests {
  let undo = UndoStack()

  @Test("async steps are performed in one undo or redo, in both directions")
  func way() async throws {
    let slow = Slow(undo)
    let start = try undo.checkpoint()
    for value in 1...3 { try await slow.set(value) }
    let end = try undo.checkpoint()
    var told: [UndoStack.Event] = []
    undo.observe { _, event in told.append(event) }
    try await undo.go(to: start)
    #expect(slow.value == 0)
    #expect(undo.isAt(start) && undo.redoCount == 3)
    try await undo.go(to: start)
    try await undo.go(to: end)
    #expect(slow.value == 3)
    #expect(undo.isAt(end) && undo.undoCount == 3)
    #expect(told == [.willUndo, .didUndo, .willRedo, .didRedo])
  }

  @Test(
    "an async step that throws on the way leaves the stack and the targets as they were",
    arguments: ["undo", "redo"])
  func failing(direction: String) async throws {
    let (slow, other) = (Slow(undo), Slow(undo))
    let start = try undo.checkpoint()
    try await slow.set(1)
    try await other.set(2)
    try await slow.set(4)
    let end = try undo.checkpoint()
    let (from, to) = direction == "redo" ? (start, end) : (end, start)
    try await undo.go(to: from)
    let (value, steps, redoSteps) = (slow.value, undo.steps, undo.redoSteps)
    other.whenChanged = { throw Refused() }
    let error = await #expect(throws: UndoError.self) { try await undo.go(to: to) }
    guard case .failed(let step, let cause, let rollback)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(step)" == "Slow set")
    #expect(cause is Refused && rollback.isEmpty)
    #expect(slow.value == value)
    #expect(undo.steps == steps && undo.redoSteps == redoSteps)
    #expect(undo.isAt(from))
    try await undo.go(to: to)
    #expect(slow.value == (direction == "redo" ? 4 : 0))
  }

  @Test("if its task is cancelled, a way fails with its step, and everything is as it was")
  func cancelled() async throws {
    let (slow, other) = (Slow(undo), Slow(undo))
    let gate = Gate()
    let start = try undo.checkpoint()
    try await other.set(1)
    try await slow.set(2)
    let end = try undo.checkpoint()
    other.whenChanged = {
      await gate.wait()
      try Task.checkCancellation()
    }
    let going = Task { try await undo.go(to: start) }
    await gate.reached()
    #expect(slow.value == 0)
    going.cancel()
    gate.open()
    await #expect(throws: UndoError.self) { try await going.value }
    #expect((slow.value, other.value) == (2, 1))
    #expect(undo.isAt(end) && !undo.canRedo)
  }

  @Test("if an object dies while a step is awaited, all undone steps are done again")
  func dying() async throws {
    let slow = Slow(undo)
    undo.onDiagnostic = { _ in }
    let start = try undo.checkpoint()
    var other: Slow? = Slow(undo)
    try await other?.set(2)
    try await slow.set(8)
    slow.whenChanged = { other = nil }
    let error = await #expect(throws: UndoError.self) { try await undo.go(to: start) }
    #expect(error.map { "\($0)" } == "no undo or redo leads to the checkpoint")
    #expect(slow.value == 8)
    #expect(undo.undoCount == 2 && !undo.canRedo)
  }

  @Test("a record of another task is added after the way, and this task cannot go anywhere")
  func meanwhile() async throws {
    let (slow, page) = (Slow(undo), Page(undo))
    let gate = Gate()
    let start = try undo.checkpoint()
    for value in 1...2 { try await slow.set(value) }
    slow.whenChanged = { await gate.wait() }
    let going = Task { try await undo.go(to: start) }
    await gate.reached()
    try page.setTitle("meanwhile")
    for refused in [
      { try await undo.go(to: start) }, { _ = try await undo.undoNestedGroup() },
    ] as [@MainActor () async throws -> Void] {
      let error = await #expect(throws: UndoError.self) { try await refused() }
      guard case .busy? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    gate.open()
    try await going.value
    #expect(slow.value == 0)
    #expect(undo.steps.map(\.description) == ["Page setTitle: \"\""])
    #expect(!undo.isAt(start))
    try await undo.go(to: start)
    #expect(page.title == "")
  }
}

@MainActor
@Suite("Awaited undos of nested groups")
struct AwaitedNestedTests {
  let undo = UndoStack()

  /// Opens a group that contains a closed group.
  private func open(_ slow: Slow, _ other: Slow) async throws {
    try undo.beginGroup("Outer")
    try await slow.set(1)
    try undo.beginGroup("Inner")
    try await other.set(2)
    try await slow.set(4)
    try undo.endGroup()
  }

  @Test("the steps of a nested group are awaited, and only this group is undone")
  func nested() async throws {
    let (slow, other) = (Slow(undo), Slow(undo))
    try await open(slow, other)
    #expect(try await undo.undoNestedGroup())
    #expect((slow.value, other.value) == (1, 0))
    #expect(undo.groupDepth == 1)
    await #expect(throws: UndoError.self) { try await undo.undoNestedGroup() }
    try undo.endGroup()
    #expect(undo.redoName == "Inner")
    try await undo.redo()
    #expect((slow.value, other.value) == (4, 2))
    // Without an open group it undoes as `undo()` does.
    #expect(try await undo.undoNestedGroup())
    #expect((slow.value, other.value) == (1, 0))
  }

  @Test(
    "a step of a nested group that throws leaves the group where it was", arguments: [false, true])
  func failing(isCancelled: Bool) async throws {
    let (slow, other) = (Slow(undo), Slow(undo))
    let gate = Gate()
    try await open(slow, other)
    other.whenChanged = {
      await gate.wait()
      if !isCancelled { throw Refused() }
      try Task.checkCancellation()
    }
    let undoing = Task { try await undo.undoNestedGroup() }
    await gate.reached()
    #expect(slow.value == 1)
    if isCancelled { undoing.cancel() }
    gate.open()
    await #expect(throws: UndoError.self) { try await undoing.value }
    #expect((slow.value, other.value) == (4, 2))
    #expect(undo.groupDepth == 1)
    try undo.endGroup()
    #expect(
      undo.steps.map(\.description) == ["Outer: (Slow set; Inner: (Slow set; Slow set))"])
    try await undo.undo()
    #expect((slow.value, other.value) == (0, 0))
  }

  @Test("a record of another task during the undo of a nested group is added to the open group")
  func meanwhile() async throws {
    let (slow, page) = (Slow(undo), Page(undo))
    let gate = Gate()
    try await open(slow, slow)
    slow.whenChanged = { await gate.wait() }
    let undoing = Task { try await undo.undoNestedGroup() }
    await gate.reached()
    try page.add(1)
    #expect(throws: UndoError.self) { try undo.endGroup() }
    gate.open()
    _ = try await undoing.value
    try undo.endGroup()
    #expect(undo.steps.map(\.description) == ["Outer: (Slow set; Page add: -1)"])
  }

  @Test("an event that ends during the undo of a nested group closes after that undo")
  func event() async throws {
    let slow = Slow(undo)
    let gate = Gate()
    undo.groupsByEvent = true
    try await open(slow, slow)
    slow.whenChanged = { await gate.wait() }
    let undoing = Task { try await undo.undoNestedGroup() }
    await gate.reached()
    undo.endEvent()
    gate.open()
    _ = try await undoing.value
    #expect(undo.groupDepth == 2)
    try undo.endGroup()
    #expect(undo.groupDepth == 0)
    #expect(undo.undoCount == 1)
  }

  @Test("an event that ends while a nested group is taken back closes after that")
  func eventTakenBack() throws {
    let page = Page(undo)
    undo.groupsByEvent = true
    try page.add(1)
    #expect(throws: Refused.self) {
      try undo.group(undoingErrors: true) {
        undo.record(on: page) { _ in undo.endEvent() }
        throw Refused()
      }
    }
    #expect(undo.groupDepth == 0)
    #expect(undo.undoCount == 1)
  }
}
