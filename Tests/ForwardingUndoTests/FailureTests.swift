// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Invocations
import Testing

// That a failed undo leaves values, names and counts as they were is a rule of the model.
@Suite("Failing undos")
struct FailureTests {
  let undo = UndoStack()

  @Test("the error names the step and its error, and the stack is as it was")
  func error() throws {
    let page = Page(undo)
    try page.add(1)
    try undo.markSaved()
    let before = undo.steps
    page.refusal = Refused()
    let error = #expect(throws: UndoError.self) { try undo.undo() }
    guard case .failed(let step, let cause, let rollback)? = error else {
      Issue.record("\(error!)")
      return
    }
    #expect(step == "Page add: -1")
    #expect(cause is Refused)
    #expect(rollback.isEmpty)
    #expect(undo.steps == before)
    #expect(!undo.isModified)
  }

  @Test("an error of the rollback is reported with the first error, and the state is unknown")
  func rollback() throws {
    let (page, other) = (Page(undo), Page(undo))
    try undo.group {
      try page.add(1)
      try other.add(2)
    }
    try undo.markSaved()
    page.whenChanged = {
      other.refusal = Refused()
      throw Refused()
    }
    let error = #expect(throws: UndoError.self) { try undo.undo() }
    guard case .failed(_, _, let rollback)? = error else { return }
    #expect(rollback.count == 1)
    #expect(undo.undoCount == 1)
    #expect(other.count == 0)
    #expect(undo.isModified)
  }

  @Test("a step that recorded nothing cannot be taken back, so the state is unknown")
  func nothingToTakeBack() throws {
    let page = Page(undo)
    try undo.group {
      try page.add(1)
      undo.record(on: page) { _ in }
    }
    try undo.markSaved()
    page.refusal = Refused()
    #expect(throws: UndoError.self) { try undo.undo() }
    #expect(undo.isModified)
  }

  /// An object that takes one number, or seven, and fails twice.
  private final class Till: MethodDeclaring {
    var got: [Int] = []

    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("put:") { (till: Till, number: Int) in try till.put(number) }
      methods.register("put:::::::") {
        (till: Till, a: Int, _: Int, _: Int, _: Int, _: Int, _: Int, _: Int) in try till.put(a)
      }
    }

    private func put(_ number: Int) throws {
      got.append(number)
      if got.count < 3 { throw Refused() }
    }
  }

  @Test(
    "a forwarding target that changes an argument does not change the recorded call",
    arguments: ["one argument", "a joined record", "more arguments than registers"])
  func changedArgument(what: String) throws {
    let till = Till()
    let proxy = InterceptingProxy(till)
    proxy.before { call in try call.setArgument(call.argument(at: 2, as: Int.self) * 10, at: 2) }
    undo.onDiagnostic = { _ in }
    let put = try Message<Void, Int>("put:")
    let wide = try Message<Void, Int, Int, Int, Int, Int, Int, Int>("put:::::::")
    switch what {
    case "one argument": try undo.record(on: proxy, put, 5)
    case "a joined record": try undo.record(on: proxy, put, 5, coalescing: .join("a"))
    default: try undo.record(on: proxy, wide, 5, 0, 0, 0, 0, 0, 0)
    }
    for _ in 0..<2 { #expect(throws: UndoError.self) { try undo.undo() } }
    try undo.undo()
    #expect(till.got == [50, 50, 50])
  }

  @Test(
    "an undo during another undo is an error, and changes nothing",
    arguments: ["undo", "redo", "mark"])
  func inside(what: String) throws {
    let page = Page(undo)
    try page.add(1)
    try page.add(2)
    var caught: (any Error)?
    page.whenChanged = {
      #expect(!undo.canUndo && !undo.canRedo && undo.isUndoing && !undo.isRedoing)
      #expect(undo.isModified)
      do {
        switch what {
        case "undo": try undo.undo()
        case "redo": try undo.redo()
        default: try undo.markSaved()
        }
      } catch { caught = error }
    }
    try undo.undo()
    guard case UndoError.busy? = caught else {
      Issue.record("\(String(describing: caught))")
      return
    }
    #expect(page.count == 1)
    #expect((undo.undoCount, undo.redoCount) == (1, 1))
  }

  @Test("a step may group what it records; a group that it leaves open is closed, and reported")
  func groups() throws {
    let page = Page(undo)
    let heard = Heard(undo)
    try page.add(1)
    page.whenChanged = {
      #expect(throws: UndoError.self) { try undo.endGroup() }
      try undo.group { try page.add(10) }
      try undo.beginGroup("Forgotten")
    }
    try undo.undo()
    #expect(undo.groupDepth == 0)
    #expect(heard.diagnostics == ["the group 'Forgotten' was left open, so it was closed"])
    #expect(undo.redoSteps == ["((Page add: -10); Page add: 1)"])
    try undo.redo()
    #expect(page.count == 1)
  }

  @MainActor
  @Test("a task that a step starts records an undo of its own, which is not part of the redo")
  func task() async throws {
    let undo = UndoStack()
    let (page, other) = (Page(undo), Page(undo))
    try page.add(1)
    try page.add(3)
    var task: Task<Void, any Error>?
    page.whenChanged = { task = Task { try other.add(2) } }
    try undo.undo()
    #expect(undo.redoSteps == ["Page add: 3"])
    try await task?.value
    #expect(undo.steps == ["Page add: -1", "Page add: -2"])
    #expect(!undo.canRedo)
  }
}
