// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

@Suite("Groups that cannot be taken back")
struct TakenBackTests {
  let undo = UndoStack()

  /// Runs a group that throws, and returns the error of its body, the error of its undo, and the
  /// number of other errors.
  private func failure(
    _ body: () throws -> Void
  ) -> (cause: any Error, failure: UndoError?, others: Int)? {
    let error = #expect(throws: UndoError.self) {
      try undo.group("All", undoingErrors: true, body)
    }
    guard case .failed(_, let cause, let rollback)? = error else { return nil }
    return (cause, rollback.first as? UndoError, rollback.count - 1)
  }

  @Test("steps undone before one that throws are done again, and the group becomes an undo")
  func refusing() throws {
    let pages = (0..<3).map { _ in Page(undo) }
    try undo.markSaved()
    let failure = failure {
      for page in pages { try page.add(1) }
      pages[1].refusal = Refused()
      throw Refused()
    }
    #expect(failure?.cause is Refused && failure?.others == 0)
    guard case .failed(_, let cause, let rollback)? = failure?.failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(cause is Refused && rollback.isEmpty)
    #expect(pages.map(\.count) == [1, 1, 1])
    #expect(undo.isModified && undo.undoCount == 1 && undo.undoName == "All")
    #expect(undo.groupDepth == 0 && !undo.canRedo)
    try undo.undo()
    #expect(pages.map(\.count) == [0, 0, 0])
    #expect(!undo.isModified)
    try undo.redo()
    #expect(pages.map(\.count) == [1, 1, 1])
  }

  @Test("an async step is not awaited: everything is done again, and an awaited undo can undo it")
  @MainActor
  func awaited() async throws {
    let page = Page(undo)
    let failure = failure {
      try page.add(1)
      undo.record(on: page) { page in
        await Task.yield()
        try page.setTitle("awaited")
      }
      try page.add(2)
      throw Refused()
    }
    guard case .failed(_, InvocationError.notAwaited, _)? = failure?.failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(page.count == 3)
    try await undo.undo()
    #expect(page.count == 0 && page.title == "awaited")
  }

  @Test("if undone steps cannot be done again, the state of the targets is unknown")
  func unknown() throws {
    let (page, other) = (Page(undo), Page(undo))
    let start = try undo.checkpoint()
    let failure = failure {
      try page.add(1)
      try other.add(2)
      page.whenChanged = {
        other.refusal = Refused()
        throw Refused()
      }
      throw Refused()
    }
    guard case .failed(_, _, let rollback)? = failure?.failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(rollback.count == 1)
    #expect((page.count, other.count) == (1, 0))
    #expect(undo.undoCount == 1 && undo.isModified)
    page.refusal = nil
    try undo.undo()
    #expect(undo.isModified && !undo.isAt(start))
  }

  @Test("such a group belongs to its outer group, or to the redo of the enclosing undo")
  func inside() throws {
    let (page, other) = (Page(undo), Page(undo))
    try undo.group("Outer") {
      try page.add(1)
      _ = failure {
        try page.add(2)
        page.refusal = Refused()
        throw Refused()
      }
    }
    #expect(undo.steps.map(\.description) == ["Outer: (Page add: -1; All: (Page add: -2))"])
    try undo.undo()
    #expect(page.count == 0)
    undo.record(on: other) { other in
      _ = failure {
        try other.add(4)
        other.refusal = Refused()
        throw Refused()
      }
    }
    try undo.undo()
    #expect(other.count == 4)
    try undo.redo()
    #expect(other.count == 0)
  }

  @Test("a discardable group is discardable while it is taken back, and if that fails")
  func discardable() throws {
    let page = Page(undo)
    var found: [Bool] = []
    _ = failure {
      try page.add(1)
      undo.isDiscardable = true
      page.whenChanged = {
        found.append(undo.isModified)
        throw Refused()
      }
      throw Refused()
    }
    #expect(found == [false])
    #expect(undo.isDiscardable && undo.undoCount == 1 && !undo.isModified)
  }
}
