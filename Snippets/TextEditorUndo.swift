// SPDX-License-Identifier: Apache-2.0
// A small text editor with undo. Consecutive typing is undone at once, a replacement of all
// occurrences is one group, and the title shows whether the text is saved. `swift run
// TextEditorUndo` runs a script, and `swift run TextEditorUndo --terminal` edits a line in a
// terminal.
import Forwarding
import ForwardingUndo
import Invocations

import Glibc

final class Editor: MethodDeclaring {
  let undo = UndoStack()
  private(set) var text: [Character] = []
  private(set) var cursor = 0

  // The recorded calls: the inverse of each of the two changes.
  static let insert = message(as: (String, Int).self, "insert:at:")
  static let remove = message(as: (Int, Int).self, "remove:at:")

  static func message<A, B>(as types: (A, B).Type, _ name: Selector) -> Message<Void, A, B> {
    do { return try Message(name) } catch { fatalError("\(error)") }
  }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("insert:at:") { (editor: Editor, text: String, offset: Int) in
      try editor.insert(text, at: offset)
    }
    methods.register("remove:at:") { (editor: Editor, count: Int, offset: Int) in
      try editor.remove(count, at: offset)
    }
  }

  func insert(_ new: String, at offset: Int, coalescing: UndoCoalescing? = nil) throws {
    try undo.record(on: self, Self.remove, new.count, offset, coalescing: coalescing)
    text.insert(contentsOf: new, at: offset)
    cursor = offset + new.count
  }

  func remove(_ count: Int, at offset: Int) throws {
    let old = String(text[offset..<(offset + count)])
    try undo.record(on: self, Self.insert, old, offset)
    text.removeSubrange(offset..<(offset + count))
    cursor = offset
  }

  /// Typed characters are removed by one undo.
  private let typing = UndoCoalescing.join("typing")

  func type(_ character: Character) throws {
    try insert(String(character), at: cursor, coalescing: typing)
    undo.name = "Typing"
  }

  func backspace() throws {
    guard cursor > 0 else { return }
    try remove(1, at: cursor - 1)
    undo.name = "Delete"
  }

  func replaceAll(_ old: Character, with new: Character) throws {
    try undo.group("Replace All") {
      for offset in text.indices where text[offset] == old {
        try remove(1, at: offset)
        try insert(String(new), at: offset)
      }
    }
  }

  func move(to offset: Int) {
    undo.endCoalescing()
    cursor = min(max(0, offset), text.count)
  }

  var line: String {
    var shown = text
    shown.insert("|", at: cursor)
    return String(shown)
  }

  var status: String {
    "\(undo.undoTitle), \(undo.redoTitle)\(undo.isModified ? ", modified" : "")"
  }
}

/// Runs the script whose output the tests compare.
func script() throws {
  let editor = Editor()
  func show(_ what: String) { print("\(what): \(editor.line) (\(editor.status))") }
  for character in "hello world" { try editor.type(character) }
  show("typed")
  try editor.undo.markSaved()
  editor.move(to: 5)
  for character in ", big" { try editor.type(character) }
  show("typed")
  try editor.replaceAll("l", with: "L")
  show("replaced")
  try editor.undo.undo()
  show("undone")
  try editor.undo.undo()
  show("undone")
  try editor.undo.redo()
  show("redone")
  try editor.backspace()
  show("deleted")
  if let next = editor.undo.steps.last { print("  \(next)") }
  while try editor.undo.undo() {}
  show("all undone")
}

/// Edits one line of a terminal, key by key.
func terminal() throws {
  guard isatty(0) == 1 else { return print("the standard input is no terminal") }
  var usual = termios()
  tcgetattr(0, &usual)
  var raw = usual
  raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
  raw.c_iflag &= ~tcflag_t(IXON | ICRNL)
  tcsetattr(0, TCSANOW, &raw)
  defer { tcsetattr(0, TCSANOW, &usual) }
  let editor = Editor()
  print("^Z undo, ^Y redo, ^S save, ^A and ^E to the ends, ^Q quit")
  while true {
    print("\r\u{1B}[K\(editor.line)   \(editor.status)", terminator: "")
    fflush(nil)
    var key: UInt8 = 0
    guard read(0, &key, 1) == 1, key != 0x11 else { break }
    switch key {
    case 0x1A: try editor.undo.undo()
    case 0x19: try editor.undo.redo()
    case 0x13: try editor.undo.markSaved()
    case 0x01: editor.move(to: 0)
    case 0x05: editor.move(to: .max)
    case 0x7F: try editor.backspace()
    case 0x20..<0x7F: try editor.type(Character(UnicodeScalar(key)))
    default: break
    }
  }
  print()
}

if CommandLine.arguments.contains("--terminal") { try terminal() } else { try script() }
