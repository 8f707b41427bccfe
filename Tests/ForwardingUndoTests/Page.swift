import Forwarding
import ForwardingUndo

/// What the tests undo: it records each of its changes, by messages.
final class Page: MethodDeclaring {
  let undo: UndoStack
  private(set) var title = ""
  private(set) var count = 0
  /// Thrown by the next change, in place of it.
  var refusal: (any Error)?
  /// Called by the next change, before it.
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

/// What a page refuses with.
struct Refused: Error, Equatable {}

/// What a stack has no caller to tell.
final class Heard {
  var diagnostics: [String] = []

  init(_ undo: UndoStack) {
    undo.onDiagnostic = { [weak self] in self?.diagnostics.append("\($0)") }
  }
}
