// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

/// A number whose changes are async and throw if their task is cancelled, as those of a library do.
private final class Careful {
  let undo: UndoStack
  private(set) var value = 0
  /// The next change awaits this before it changes the number.
  var whenChanged: (nonisolated(nonsending) () async -> Void)?

  init(_ undo: UndoStack) { self.undo = undo }

  nonisolated(nonsending) func set(_ new: Int) async throws {
    let body = whenChanged
    whenChanged = nil
    await body?()
    try Task.checkCancellation()
    undo.record(on: self, label: "set") { [value] careful in try await careful.set(value) }
    value = new
  }
}

@MainActor
@Suite("Cancelled undos of steps that check for cancellation")
struct CancelledUndoTests {
  let undo = UndoStack()

  @Test(
    "undone steps are done again, although the task is cancelled",
    arguments: ["undo", "redo", "go", "nested"])
  func cancelled(way: String) async throws {
    let (first, last) = (Careful(undo), Careful(undo))
    let gate = Gate()
    let start = try undo.checkpoint()
    try undo.beginGroup("Outer")
    if way == "go" { try undo.endGroup() }
    try undo.beginGroup("Inner")
    try await first.set(1)
    if way == "go" {
      try undo.endGroup()
      try undo.beginGroup("Other")
    }
    try await last.set(2)
    try undo.endGroup()
    if way == "undo" || way == "redo" { try undo.endGroup() }
    // The change that comes second waits.
    let (careful, other) = way == "redo" ? (last, first) : (first, last)
    if way == "redo" { try await undo.undo() }
    let (values, steps) = ((first.value, last.value), undo.steps)
    careful.whenChanged = { await gate.wait() }
    let undoing = Task {
      switch way {
      case "go": try await undo.go(to: start)
      case "nested": try await undo.undoNestedGroup()
      case "redo": try await undo.redo()
      default: try await undo.undo()
      }
    }
    await gate.reached()
    #expect(other.value != (way == "redo" ? values.0 : values.1))
    undoing.cancel()
    gate.open()
    let error = await #expect(throws: UndoError.self) { try await undoing.value }
    guard case .failed(_, is CancellationError, let rollback)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(rollback.isEmpty)
    #expect((first.value, last.value) == values)
    if way == "nested" { try undo.endGroup() }
    if way != "nested" { #expect(undo.steps == steps) }
    if way == "redo" { try await undo.redo() }
    try await undo.go(to: start)
    #expect((first.value, last.value) == (0, 0))
    #expect(!undo.isModified)
  }

  @Test("undone steps are done again on the main actor if the caller runs there")
  func onMainActor() async throws {
    try await Task { try await cancelItself { MainActor.assertIsolated() } }.value
  }

  @Test("undone steps are done again on the actor of the caller")
  func onActor() async throws { try await Task { try await Own().run() }.value }

  @Test("undone steps are done again without an actor if the caller has none")
  nonisolated func nowhere() async throws { try await Task { try await cancelItself {} }.value }
}

/// Undoes steps in a task that the last step cancels. Calls `check` while a step is done again.
private nonisolated(nonsending) func cancelItself(_ check: @escaping () -> Void) async throws {
  let undo = UndoStack()
  let page = Page(undo)
  let (first, last) = (Careful(undo), Careful(undo))
  try undo.beginGroup()
  try await first.set(1)
  try page.add(4)
  try await last.set(2)
  try undo.endGroup()
  var checks = 0
  first.whenChanged = {
    page.whenChanged = {
      check()
      checks += 1
    }
    withUnsafeCurrentTask { $0?.cancel() }
  }
  do {
    try await undo.undo()
    Issue.record("it was undone")
  } catch {}
  #expect(Task.isCancelled)
  #expect((first.value, page.count, last.value) == (1, 4, 2))
  #expect(checks == 1)
}

/// An actor that owns a stack.
private actor Own {
  func run() async throws { try await cancelItself { self.assertIsolated() } }
}
