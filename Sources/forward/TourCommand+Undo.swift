// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo

/// A text that records the inverse of each of its changes.
private final class Note: MethodDeclaring {
  let undo = UndoStack()
  var text = ""

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("setText:") { (note: Note, text: String) in try note.setText(text) }
  }

  func setText(_ new: String) throws {
    try undo.record(on: self, Message<Void, String>("setText:"), text)
    text = new
  }
}

extension TourCommand {
  static func undo() throws {
    let note = Note()
    let undo = note.undo
    try note.setText("hello")
    undo.name = "Typing"
    try undo.group("Shout") {
      try note.setText("Hello")
      try note.setText("HELLO")
    }
    say("Each change records a call:")
    for step in undo.steps { say("  \(step)") }
    show("undo.undoTitle", undo.undoTitle)
    try undo.undo()
    show("undo.undo(); note.text", note.text)
    show("undo.redoTitle", undo.redoTitle)
    try undo.redo()
    show("undo.redo(); note.text, as the undo was recorded, too", note.text)
  }
}
