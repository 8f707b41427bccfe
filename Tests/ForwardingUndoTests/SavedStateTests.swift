// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

// Values, counts, names, limits and removals are compared in random histories (`UndoModelTests`).
// These are the cases that the model does not know.

@Suite("Whether the targets are modified")
struct SavedStateTests {
  /// What happens to a stack with two targets, a page and another one, and what it says of them.
  enum Event: String {
    case saved, modified
    case mark, undo, redo, failingUndo, beginGroup, endGroup, oneLevel
    case removeAll, removePage, removeOther
    case add, addToOther, addToDead, keepFirstTitle
    /// Records a closure that records nothing, or one that records such a closure.
    case oneWay, recordOneWay
  }

  /// The rules, and the events that show each.
  static let histories: KeyValuePairs = [
    "undo and redo lead back to the saved state":
      "saved add modified mark add undo saved undo modified redo saved redo modified",
    "a saved state on a dropped branch is never reached again":
      "add mark undo add modified undo modified",
    "removing the history does not change it":
      "add removeAll modified mark removeAll saved",
    "a limit drops the saved state with the oldest undos":
      "oneLevel add add undo modified mark redo undo saved",
    "a removal does not change it, and undo and redo lead back":
      "add addToOther mark removeOther saved undo modified redo saved",
    "after a removal above it no undo leads to the saved state":
      "add mark addToOther removeOther modified undo modified redo modified",
    "nor does a redo through removed steps":
      "add addToOther mark undo undo removeOther redo modified",
    "an open group is a modification once it is not empty":
      "beginGroup saved add modified endGroup modified",
    "a removal from an open group leaves its change":
      "beginGroup add removePage modified endGroup modified",
    "a record that joins another is a modification":
      "keepFirstTitle mark keepFirstTitle modified undo saved",
    "an undo that recorded nothing has no redo":
      "oneWay add mark undo undo redo modified",
    "a step that recorded nothing is not done again":
      "beginGroup add oneWay endGroup mark undo redo modified",
    "an undo and a redo that recorded nothing reach their states":
      "oneWay undo saved add recordOneWay mark undo redo saved undo modified",
    "a dead entry is dropped, and its change stays":
      "mark add addToDead undo modified",
    "a failed undo changes nothing":
      "add mark failingUndo saved",
    "a step that recorded nothing cannot be taken back, so the state is unknown":
      "beginGroup add oneWay endGroup mark failingUndo modified",
  ]

  @Test("the targets are not modified exactly where they are as saved", arguments: histories)
  func modified(_ rule: String, _ events: String) throws {
    let undo = UndoStack()
    undo.onDiagnostic = { _ in }
    let (page, other) = (Page(undo), Page(undo))
    for (index, word) in events.split(separator: " ").enumerated() {
      switch try #require(Event(rawValue: String(word))) {
      case .saved: #expect(!undo.isModified, "\(rule): event \(index)")
      case .modified: #expect(undo.isModified, "\(rule): event \(index)")
      case .mark: try undo.markSaved()
      case .undo: try undo.undo()
      case .redo: try undo.redo()
      case .failingUndo:
        page.refusal = Refused()
        #expect(throws: UndoError.self) { try undo.undo() }
      case .beginGroup: try undo.beginGroup()
      case .endGroup: try undo.endGroup()
      case .oneLevel: undo.levels = 1
      case .removeAll: undo.removeAll()
      case .removePage: undo.removeAll(for: page)
      case .removeOther: undo.removeAll(for: other)
      case .add: try page.add(1)
      case .addToOther: try other.add(2)
      case .addToDead: try Page(undo).add(2)
      case .keepFirstTitle: try page.setTitle("\(index)", coalescing: .keepFirst("title"))
      case .oneWay: undo.record(on: page) { _ in }
      case .recordOneWay: undo.record(on: page) { page in page.undo.record(on: page) { _ in } }
      }
    }
  }
}
