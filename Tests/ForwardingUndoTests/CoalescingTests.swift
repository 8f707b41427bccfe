// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import ForwardingUndo
import Testing

// What joins what is a rule of the model.
@Suite("Coalescing records")
struct CoalescingTests {
  let undo = UndoStack()

  @Test("keepFirst keeps the oldest value of each object and message, or closure label")
  func keepFirst() throws {
    let (page, other) = (Page(undo), Page(undo))
    let rule = UndoCoalescing.keepFirst("title")
    for title in ["a", "b", "c"] { try page.setTitle(title, coalescing: rule) }
    try other.setTitle("d", coalescing: rule)
    try page.add(1, coalescing: rule)
    for label in ["one", "one", "two"] {
      undo.record(on: page, label: label, coalescing: rule) { _ in }
    }
    #expect(
      undo.steps == [
        "(Page setTitle: \"\"; Page setTitle: \"\"; Page add: -1; Page one; Page two)"
      ])
  }

  @Test(
    "a record joins no entry from before an undo that only dropped entries of dead targets",
    arguments: [UndoCoalescing.join("k"), .keepFirst("k")])
  func deadTargets(rule: UndoCoalescing) throws {
    let undo = UndoStack()
    undo.onDiagnostic = { _ in }
    let page = Page(undo)
    // The second time an older entry is there, into which the record could be put.
    for older in 0..<2 {
      undo.endCoalescing()
      try Page(undo).add(1, coalescing: rule)
      if older > 0 {
        // The undo drops the dead entry, and is refused then.
        undo.onCheckpoint = {
          undo.onCheckpoint = nil
          try? undo.beginGroup("typing")
        }
        #expect(throws: UndoError.self) { try undo.undo() }
        try undo.endGroup()
      } else {
        #expect(try !undo.undo())
      }
      try page.add(5, coalescing: rule)
      #expect(undo.undoCount == older + 1)
    }
    try undo.undo()
    #expect(page.count == 5)
  }

  @Test(
    "joining the records of many objects takes a time that grows with their number alone",
    arguments: ["keepFirst", "join", "events"])
  func growth(what: String) throws {
    let rule = what == "join" ? UndoCoalescing.join("drag") : .keepFirst("drag")
    let growth = try CPUTime.growth(from: 125) { count in
      let undo = UndoStack()
      undo.groupsByEvent = what == "events"
      let pages = (0..<count).map { _ in Page(undo) }
      return try CPUTime.milliseconds {
        for frame in 0..<3 {
          for page in pages { try page.setTitle("\(frame)", coalescing: rule) }
          undo.endEvent()
        }
        #expect(undo.steps[0].split(separator: ";").count == (what == "join" ? 3 : 1) * count)
      }
    }
    #expect(growth < CPUTime.linear)
  }
}
