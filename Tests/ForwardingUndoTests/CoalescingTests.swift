// SPDX-License-Identifier: Apache-2.0
import Forwarding
@testable import ForwardingUndo
import Testing

@Suite("Coalescing records")
struct CoalescingTests {
  let undo = UndoStack()

  @Test("one undo undoes all records with the same key")
  func join() throws {
    let page = Page(undo)
    for number in 1...3 { try page.add(number, coalescing: .join("count")) }
    #expect(undo.undoCount == 1)
    try undo.undo()
    #expect(page.count == 0)
    try undo.redo()
    #expect(page.count == 6)
  }

  @Test("keepFirst keeps only the oldest value of a setter")
  func keepFirst() throws {
    let (page, other) = (Page(undo), Page(undo))
    for title in ["a", "b", "c"] { try page.setTitle(title, coalescing: .keepFirst("title")) }
    try other.setTitle("d", coalescing: .keepFirst("title"))
    #expect(undo.steps.map(\.description) == ["(Page setTitle: \"\"; Page setTitle: \"\")"])
    try undo.undo()
    #expect(page.title == "")
    #expect(other.title == "")
  }

  private var sum: UndoCoalescing {
    .merge("sum") { older, newer in
      let both = try older.argument(at: 2, as: Int.self) + newer.argument(at: 2, as: Int.self)
      try older.setArgument(both, at: 2)
      return true
    }
  }

  @Test("a merge replaces two calls by one that stands for both")
  func merge() throws {
    let page = Page(undo)
    for number in 1...4 { try page.add(number, coalescing: sum) }
    #expect(undo.steps.map(\.description) == ["Page add: -10"])
    try undo.undo()
    #expect(page.count == 0)
  }

  @Test("a merge that throws keeps both calls, and is reported")
  func mergeThrows() throws {
    let page = Page(undo)
    let heard = Heard(undo)
    let rule = UndoCoalescing.merge("sum") { _, _ in throw Refused() }
    try page.add(1, coalescing: rule)
    try page.add(2, coalescing: rule)
    #expect(undo.steps[0].steps.count == 2)
    #expect(heard.diagnostics == ["'Page add: -2' was not merged: Refused()"])
  }

  @Test(
    "every other operation ends coalescing",
    arguments: ["undo", "another key", "no key", "mark", "checkpoint", "end", "group", "clear"])
  func ended(by what: String) throws {
    let page = Page(undo)
    let rule = UndoCoalescing.join("count")
    try page.add(1, coalescing: rule)
    switch what {
    case "undo":
      try page.add(1)
      try undo.undo()
    case "another key": try page.add(1, coalescing: .join("other"))
    case "no key": try page.add(1)
    case "mark": try undo.markSaved()
    case "checkpoint": _ = try undo.checkpoint()
    case "end": undo.endCoalescing()
    case "group": try undo.group { try page.add(1) }
    default: undo.removeAll()
    }
    let count = undo.undoCount
    try page.add(1, coalescing: rule)
    #expect(undo.undoCount == count + 1)
  }

  @Test("a pause that is too long ends coalescing")
  func pause() throws {
    let page = Page(undo)
    var now = ContinuousClock.now
    undo.now = { now }
    let rule = UndoCoalescing.join("count", within: .seconds(1))
    try page.add(1, coalescing: rule)
    now = now.advanced(by: .seconds(1))
    try page.add(1, coalescing: rule)
    #expect(undo.undoCount == 1)
    now = now.advanced(by: .seconds(1.1))
    try page.add(1, coalescing: rule)
    #expect(undo.undoCount == 2)
  }

  @Test("events with the same key coalesce")
  func events() throws {
    let page = Page(undo)
    undo.groupsByEvent = true
    for _ in 0..<3 {
      try page.add(1, coalescing: sum)
      try page.add(1, coalescing: sum)
      undo.endEvent()
    }
    #expect(undo.steps.map(\.description) == ["Page add: -6"])
    try page.add(1, coalescing: sum)
    try page.add(1)
    undo.endEvent()
    #expect(undo.undoCount == 2)
  }

  @Test("a coalescing record after an undo drops the redos")
  func redo() throws {
    let page = Page(undo)
    let rule = UndoCoalescing.keepFirst("title")
    try page.setTitle("a", coalescing: rule)
    try page.add(1)
    try undo.undo()
    try page.setTitle("b", coalescing: rule)
    #expect(!undo.canRedo)
    #expect(undo.undoCount == 2)
  }

  @Test("a record that coalesces is a modification, although no entry is added")
  func modified() throws {
    let page = Page(undo)
    let rule = UndoCoalescing.keepFirst("title")
    try page.setTitle("a", coalescing: rule)
    let state = undo.history.current
    try page.setTitle("b", coalescing: rule)
    #expect(undo.history.current != state)
  }

  @Test(
    "a merge that changes the stack itself has no effect, and no record is lost or doubled",
    arguments: ["records", "records and says no", "forgets", "undoes", "removes", "groups"])
  func mergeChanges(what: String) throws {
    let (page, other) = (Page(undo), Page(undo))
    // Makes the newest entry a group, so that a part of it can be removed.
    try other.add(100, coalescing: .join("sum"))
    try page.add(1, coalescing: .join("sum"))
    let merge = UndoCoalescing.merge("sum") { older, newer in
      switch what {
      case "records", "records and says no": try other.add(10)
      case "forgets": undo.removeAll()
      case "undoes": try undo.undo()
      case "removes": undo.removeAll(for: other)
      default: try undo.group { try other.add(10) }
      }
      try older.setArgument(-1000, at: 2)
      return what != "records and says no"
    }
    try page.add(2, coalescing: merge)
    let before = (page.count, other.count)
    let steps: [String: [String]] = [
      "forgets": ["Page add: -2"],
      "undoes": ["Page add: -2"],
      "removes": ["(Page add: -1000)"],
    ]
    let usual = ["(Page add: -100; Page add: -1)", "Page add: -10", "Page add: -2"]
    #expect(undo.steps.map(\.description) == steps[what] ?? usual)
    #expect(undo.isModified)
    #expect(!undo.canRedo)
    while try undo.undo() {}
    while try undo.redo() {}
    if what != "removes" { #expect((page.count, other.count) == before) }
  }

  @Test("a merge that changes the stack has no effect in an open group either")
  func mergeChangesGroup() throws {
    let (page, other) = (Page(undo), Page(undo))
    for what in ["forgets", "ends", "records"] {
      let merge = UndoCoalescing.merge("sum") { older, _ in
        switch what {
        case "forgets": undo.removeAll()
        case "ends": try undo.endGroup()
        default: try other.add(10)
        }
        try older.setArgument(-1000, at: 2)
        return true
      }
      undo.removeAll()
      try undo.beginGroup()
      try page.add(1, coalescing: merge)
      try page.add(2, coalescing: merge)
      if undo.groupDepth > 0 { try undo.endGroup() }
      let steps = [
        "forgets": ["Page add: -2"], "ends": ["Page add: -1", "Page add: -2"],
        "records": ["(Page add: -1; Page add: -10; Page add: -2)"],
      ]
      #expect(undo.steps.map(\.description) == steps[what])
    }
  }

  @Test("a merge that changes the older call and then fails leaves it as it was")
  func mergeFailsLate() throws {
    let page = Page(undo)
    undo.onDiagnostic = { _ in }
    for failing in [true, false] {
      undo.removeAll()
      let merge = UndoCoalescing.merge("sum") { older, _ in
        try older.setArgument(-1000, at: 2)
        if failing { throw Refused() }
        return false
      }
      try page.add(1, coalescing: merge)
      try page.add(2, coalescing: merge)
      #expect(undo.steps.map(\.description) == ["(Page add: -1; Page add: -2)"])
    }
  }
}
