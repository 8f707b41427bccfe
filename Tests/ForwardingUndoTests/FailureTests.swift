// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Invocations
import Testing

// That a failed undo leaves values, names and counts as they were is a rule of the model; whether
// the state is known then is one of `SavedStateTests`.
@Suite("Failing undos")
struct FailureTests {
  let undo = UndoStack()

  @Test(
    "the error names the step, its error and those of the rollback; what is not taken back is a modification",
    arguments: ["nothing", "the rollback fails", "a step is removed"])
  func failing(meanwhile: String) throws {
    let (page, other) = (Page(undo), Page(undo))
    try undo.group {
      try page.add(1)
      try other.add(2)
    }
    try undo.markSaved()
    page.whenChanged = {
      switch meanwhile {
      case "the rollback fails": other.refusal = Refused()
      case "a step is removed": undo.removeAll(for: other)
      default: break
      }
      throw Refused()
    }
    let error = try #require(throws: UndoError.self) { try undo.undo() }
    guard case .failed("Page add: -1", is Refused, let rollback) = error else {
      throw error
    }
    let isTakenBack = meanwhile == "nothing"
    #expect(rollback.count == (meanwhile == "the rollback fails" ? 1 : 0))
    #expect((page.count, other.count) == (1, isTakenBack ? 2 : 0))
    #expect(undo.isModified == !isTakenBack)
    let left = meanwhile == "a step is removed" ? "(Page add: -1)" : "(Page add: -1; Page add: -2)"
    #expect(undo.steps == [left])
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
