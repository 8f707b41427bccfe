import Forwarding
import ForwardingUndo
import Testing

@MainActor
@Suite("Where the targets are while an undo is under way")
struct BetweenTests {
  let undo = UndoStack()

  /// A page that was saved, and has changed since.
  private func changed() throws -> (Page, UndoCheckpoint) {
    let page = Page(undo)
    try page.add(1)
    try undo.markSaved()
    let saved = try undo.checkpoint()
    try page.add(2)
    return (page, saved)
  }

  @Test("a step finds them modified, and at no checkpoint", arguments: ["undo", "go"])
  func step(way: String) throws {
    let (page, saved) = try changed()
    var found: [Bool] = []
    page.whenChanged = { found += [undo.isModified, undo.isAt(saved)] }
    if way == "undo" { try undo.undo() } else { try undo.go(to: saved) }
    #expect(found == [true, false])
    #expect(!undo.isModified && undo.isAt(saved))
  }

  @Test("so does an observer, and a step of a group that is taken back")
  func observer() throws {
    let (page, saved) = try changed()
    var found: [[Bool]] = []
    undo.observe { undo, _ in found.append([undo.isModified, undo.isAt(saved)]) }
    page.whenChanged = { try undo.group {} }
    try undo.undo()
    // Before the undo, in the group of the step, and behind the undo.
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

  @Test("so does another task, while a step is awaited")
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

  @Test("an undo that may be lost is no modification, and what others do meanwhile is one")
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
    // Told of the first one that others recorded, while the second one waits.
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
