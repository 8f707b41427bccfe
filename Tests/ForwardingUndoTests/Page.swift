// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Invocations

/// The target of the tests. It records each of its changes by messages.
final class Page: MethodDeclaring {
  let undo: UndoStack
  private(set) var title = ""
  private(set) var count = 0
  /// The next change throws this and changes nothing.
  var refusal: (any Error)?
  /// The next change calls this before it changes anything.
  var whenChanged: (() throws -> Void)?

  init(_ undo: UndoStack) { self.undo = undo }

  static let setTitle = message("setTitle:", of: String.self)
  static let add = message("add:", of: Int.self)

  private static func message<Argument>(
    _ name: Selector, of type: Argument.Type
  ) -> Message<Void, Argument> {
    do { return try Message(name) } catch { fatalError("\(error)") }
  }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("setTitle:") { (page: Page, title: String) in try page.setTitle(title) }
    methods.register("add:") { (page: Page, number: Int) in try page.add(number) }
    methods.register("save") { (_: Page) async in }
    methods.register("halve") { (page: Page) in page.count / 2 }
  }

  func setTitle(_ new: String, coalescing: UndoCoalescing? = nil) throws {
    try changing()
    try undo.record(on: self, Self.setTitle, title, coalescing: coalescing)
    title = new
  }

  func add(_ number: Int, coalescing: UndoCoalescing? = nil) throws {
    try changing()
    try undo.record(on: self, Self.add, -number, coalescing: coalescing)
    count += number
  }

  private func changing() throws {
    if let refusal {
      self.refusal = nil
      throw refusal
    }
    let body = whenChanged
    whenChanged = nil
    try body?()
  }
}

/// The error that a page throws.
struct Refused: Error, Equatable {}

/// The diagnostics of a stack, which it reports to no caller.
final class Heard {
  var diagnostics: [String] = []

  init(_ undo: UndoStack) {
    undo.onDiagnostic = { [weak self] in self?.diagnostics.append("\($0)") }
  }
}
