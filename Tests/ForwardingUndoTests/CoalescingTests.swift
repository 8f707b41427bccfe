// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
@testable import ForwardingUndo
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
      undo.steps.map(\.description) == [
        "(Page setTitle: \"\"; Page setTitle: \"\"; Page add: -1; Page one; Page two)"
      ])
  }

  @Test(
    "joining the records of 16,000 objects takes eight times as long as those of 2,000",
    arguments: ["keepFirst", "join", "events"])
  func growth(what: String) throws {
    let rule = what == "join" ? UndoCoalescing.join("drag") : .keepFirst("drag")
    let growth = try CPUTime.growth { count in
      let undo = UndoStack()
      undo.groupsByEvent = what == "events"
      let pages = (0..<count).map { _ in Page(undo) }
      return try CPUTime.milliseconds {
        for frame in 0..<3 {
          for page in pages { try page.setTitle("\(frame)", coalescing: rule) }
          undo.endEvent()
        }
        #expect(undo.steps[0].steps.count == (what == "join" ? 3 : 1) * count)
      }
    }
    #expect(growth < CPUTime.linear)
  }
}
