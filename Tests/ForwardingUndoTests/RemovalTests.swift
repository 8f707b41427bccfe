// SPDX-License-Identifier: Apache-2.0
import Forwarding
@testable import ForwardingUndo
import Testing

@Suite("Removal during other operations")
struct RemovalTests {
  let undo = UndoStack()

  @Test(
    "removed steps leave the groups that wait for the undo of a nested group",
    arguments: [true, false])
  func nestedUndo(all: Bool) throws {
    let (page, other) = (Page(undo), Page(undo))
    undo.onDiagnostic = { _ in }
    try undo.beginGroup("Outer")
    try page.add(1)
    try other.add(2)
    try undo.beginGroup()
    undo.record(on: other) { _ in
      if all { undo.removeAll() } else { #expect(undo.removeAll(for: page)) }
    }
    try undo.endGroup()
    try undo.undoNestedGroup()
    #expect(undo.groupDepth == 1)
    try undo.endGroup()
    #expect(undo.steps.map(\.description) == (all ? [] : ["Outer: Page add: -2"]))
    while try undo.undo() {}
    #expect(page.count == 1)
  }

  @Test(
    "removed steps leave the groups that wait while a nested group is taken back",
    arguments: [true, false])
  func takenBack(all: Bool) throws {
    let (page, other) = (Page(undo), Page(undo))
    try undo.beginGroup("Outer")
    try page.add(1)
    try other.add(2)
    #expect(throws: Refused.self) {
      try undo.group(undoingErrors: true) {
        undo.record(on: other) { _ in
          if all { undo.removeAll() } else { #expect(undo.removeAll(for: page)) }
        }
        throw Refused()
      }
    }
    try undo.endGroup()
    #expect(undo.steps.map(\.description) == (all ? [] : ["Outer: Page add: -2"]))
  }

  @Test(
    "removed steps leave the undo in which a group is taken back, its redo, and later entries",
    arguments: [true, false])
  func takenBackInUndo(all: Bool) throws {
    let (page, other) = (Page(undo), Page(undo))
    undo.onDiagnostic = { _ in }
    try undo.beginGroup()
    try page.add(1)
    undo.record(on: other) { other in
      try other.add(4)
      try? undo.group(undoingErrors: true) {
        undo.record(on: other) { _ in
          if all { undo.removeAll() } else { #expect(undo.removeAll(for: page)) }
        }
        throw Refused()
      }
    }
    try page.add(2)
    try undo.endGroup()
    try undo.undo()
    #expect(page.count == 1)
    #expect(undo.redoSteps.map(\.description) == (all ? [] : ["Page add: -4"]))
    #expect(!undo.canUndo)
  }

  @Test("a removed step stays undone if the undo fails later, and that is a modification")
  func failingAfter() throws {
    let (page, other) = (Page(undo), Page(undo))
    try undo.group {
      try page.add(1)
      try other.add(2)
    }
    try undo.markSaved()
    page.whenChanged = {
      undo.removeAll(for: other)
      throw Refused()
    }
    #expect(throws: UndoError.self) { try undo.undo() }
    #expect((page.count, other.count) == (1, 0))
    #expect(undo.steps.map(\.description) == ["(Page add: -1)"])
    #expect(undo.isModified)
  }

  @Test(
    "removed steps leave an event that ends while its first change is merged",
    arguments: [true, false])
  func closing(all: Bool) throws {
    let (page, other) = (Page(undo), Page(undo))
    undo.groupsByEvent = true
    let merge = UndoCoalescing.merge("sum") { _, _ in
      if all { undo.removeAll() } else { undo.removeAll(for: other) }
      return false
    }
    for (target, number) in [(page, 1), (other, 4), (page, 2)] {
      try target.add(number, coalescing: .join("sum"))
    }
    undo.endEvent()
    #expect(undo.undoCount == 1)
    try page.add(8, coalescing: merge)
    try other.add(16, coalescing: merge)
    try page.add(32, coalescing: merge)
    undo.endEvent()
    let left = undo.steps.flatMap { $0.steps.isEmpty ? [$0] : $0.steps }.flatMap(\.arguments)
    #expect(left == (all ? ["-8"] : ["-1", "-2", "-8", "-32"]))
  }

  @Test(
    "removed steps leave the entries undone on the way to a checkpoint, and their redos",
    arguments: [true, false])
  func onTheWay(all: Bool) throws {
    let (page, other) = (Page(undo), Page(undo))
    let start = try undo.checkpoint()
    try page.add(2)
    try other.add(1)
    page.whenChanged = {
      #expect(other.count == 0)
      if all { undo.removeAll() } else { #expect(undo.removeAll(for: other)) }
    }
    #expect(throws: UndoError.self) { try undo.go(to: start) }
    // Steps recorded after the removal are done again; the removed ones are not.
    #expect((page.count, other.count) == (2, 0))
    #expect(undo.steps.map(\.description) == (all ? [] : ["Page add: -2"]))
    #expect(!undo.canRedo)
  }

  @Test(
    "a removal while a group is taken back leads the enclosing undo to a state that never existed")
  func failingAround() throws {
    let (page, other) = (Page(undo), Page(undo))
    try undo.beginGroup()
    try page.add(1)
    undo.record(on: other) { other in
      try? undo.group(undoingErrors: true) {
        undo.record(on: other) { _ in #expect(undo.removeAll(for: page)) }
        throw Refused()
      }
      throw Refused()
    }
    try undo.endGroup()
    try undo.markSaved()
    #expect(throws: UndoError.self) { try undo.undo() }
    #expect(undo.steps.map(\.description) == ["(Page closure)"])
    #expect(undo.isModified)
  }

  @MainActor
  @Test(
    "removed steps leave the records of other tasks while a step is awaited",
    arguments: [true, false])
  func deferred(all: Bool) async throws {
    let (page, other) = (Page(undo), Page(undo))
    let gate = Gate()
    undo.onDiagnostic = { _ in }
    undo.record(on: other) { _ in await gate.wait() }
    let undoing = Task { try await undo.undo() }
    await gate.reached()
    try page.add(1)
    try other.add(2)
    if all { undo.removeAll() } else { #expect(undo.removeAll(for: page)) }
    try other.add(4)
    gate.open()
    _ = try await undoing.value
    #expect(undo.steps.flatMap(\.arguments) == (all ? ["-4"] : ["-2", "-4"]))
  }

  @MainActor
  @Test(
    "removed steps leave the records of other tasks after the undo has ended, too",
    arguments: [true, false])
  func waiting(all: Bool) async throws {
    let (page, other) = (Page(undo), Page(undo))
    let gate = Gate()
    undo.onDiagnostic = { _ in }
    undo.record(on: other) { _ in await gate.wait() }
    try undo.markSaved()
    let undoing = Task { try await undo.undo() }
    await gate.reached()
    try other.add(1)
    undo.isDiscardable = true
    try page.add(2)
    try other.add(4)
    undo.isDiscardable = true
    // Notified of the first record while the others wait.
    var isFirst = true
    undo.observe { undo, event in
      guard isFirst, event == .didCloseGroup(depth: 1) else { return }
      isFirst = false
      if all { undo.removeAll() } else { #expect(undo.removeAll(for: page)) }
    }
    gate.open()
    _ = try await undoing.value
    #expect(!isFirst)
    #expect(undo.steps.flatMap(\.arguments) == (all ? [] : ["-1", "-4"]))
    // The page has its change, which can no longer be undone.
    while try await undo.undo() {}
    #expect(undo.isModified)
  }
}
