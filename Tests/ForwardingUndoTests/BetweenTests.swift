// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

@MainActor
@Suite("The state of the targets during an undo")
struct BetweenTests {
  let undo = UndoStack()

  /// A page that was saved, and changed after that.
  private func changed() throws -> (Page, UndoCheckpoint) {
    let page = Page(undo)
    try page.add(1)
    try undo.markSaved()
    let saved = try undo.checkpoint()
    try page.add(2)
    return (page, saved)
  }

  @Test("a step finds the targets modified, and at no checkpoint", arguments: ["undo", "go"])
  func step(way: String) throws {
    let (page, saved) = try changed()
    var found: [Bool] = []
    page.whenChanged = { found += [undo.isModified, undo.isAt(saved)] }
    if way == "undo" { try undo.undo() } else { try undo.go(to: saved) }
    #expect(found == [true, false])
    #expect(!undo.isModified && undo.isAt(saved))
  }

  @Test("an observer and a step of a group that is taken back find the targets modified")
  func observer() throws {
    let (page, saved) = try changed()
    var found: [[Bool]] = []
    undo.observe { undo, _ in found.append([undo.isModified, undo.isAt(saved)]) }
    page.whenChanged = { try undo.group {} }
    try undo.undo()
    // Before the undo, in the group of the step, and after the undo.
    #expect(found == Array(repeating: [true, false], count: 4) + [[false, true]])
    #expect(throws: Refused.self) {
      try undo.group(undoingErrors: true) {
        try page.add(4)
        page.whenChanged = { found = [[undo.isModified, undo.isAt(saved)]] }
        throw Refused()
      }
    }
    #expect(found.first == [true, false])
    #expect(!undo.isModified && undo.isAt(saved))
  }

  @Test("another task finds them modified and at no checkpoint while a step is awaited")
  func elsewhere() async throws {
    let page = Page(undo)
    let gate = Gate()
    try undo.markSaved()
    let saved = try undo.checkpoint()
    undo.record(on: page) { page in
      await gate.wait()
      try page.add(1)
    }
    let undoing = Task { try await undo.undo() }
    await gate.reached()
    #expect(undo.isModified && !undo.isAt(saved))
    gate.open()
    _ = try await undoing.value
    #expect(!undo.isModified && undo.isAt(saved))
  }

  @Test("a discardable undo is no modification, but a record of another task meanwhile is one")
  func discardable() async throws {
    let (page, other) = (Page(undo), Page(undo))
    let gate = Gate()
    try undo.markSaved()
    let saved = try undo.checkpoint()
    undo.record(on: page) { page in
      try undo.group {
        try page.add(1)
        #expect(!undo.isModified && undo.isAt(saved))
      }
      await gate.wait()
    }
    undo.isDiscardable = true
    let undoing = Task { try await undo.undo() }
    await gate.reached()
    #expect(!undo.isModified && undo.isAt(saved))
    try other.add(2)
    #expect(undo.isModified && !undo.isAt(saved))
    undo.isDiscardable = true
    #expect(!undo.isModified && undo.isAt(saved))
    try other.add(4)
    // Notified of the first record of another task while the second one waits.
    var found: [Bool] = []
    undo.observe { undo, event in
      if event == .didCloseGroup(depth: 1) { found.append(undo.isModified) }
    }
    gate.open()
    _ = try await undoing.value
    #expect(found == [true, true])
    #expect(undo.isModified && !undo.isAt(saved))
  }
}
