// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Testing

/// Calls a closure at its end.
private final class Leaving: @unchecked Sendable {
  // SAFETY: the tests use it on one actor.
  private let end: () -> Void
  init(_ end: @escaping () -> Void) { self.end = end }
  deinit { end() }

  /// A rule whose closure retains this object, and merges nothing.
  var rule: UndoCoalescing { .merge("key") { [self] _, _ in withExtendedLifetime(self) { false } } }
}

@MainActor
@Suite("User code in the middle of a change")
struct ReentrancyTests {
  let undo = UndoStack()

  @Test(
    "the argument of a call that a merge replaced may use the stack in its deinit",
    arguments: ["removeAll", "removeTarget", "record"], [false, true])
  func dyingArgument(ending: String, inGroup: Bool) throws {
    final class Shelf: MethodDeclaring {
      static func declareMethods(_ methods: MethodDeclarations) {
        methods.register("put:") { (_: Shelf, _: Leaving) in }
      }
    }
    let (page, shelf) = (Page(undo), Shelf())
    let put = try Message<Void, Leaving>("put:")
    let newer = UndoCoalescing.merge("key") { older, newer in
      try older.setArgument(newer.argument(at: 2, as: Leaving.self), at: 2)
      return true
    }
    if inGroup { try undo.beginGroup() }
    try page.add(1, coalescing: newer)
    func record(_ end: @escaping () -> Void) throws {
      try undo.record(on: shelf, put, Leaving(end), coalescing: newer)
    }
    var deaths = 0
    try record { [undo, page] in
      deaths += 1
      switch ending {
      case "removeAll": undo.removeAll()
      case "removeTarget": undo.removeAll(for: page)
      default: try? page.add(100)
      }
    }
    try record {}
    #expect(deaths == 1)
    if inGroup { try undo.endGroup() }
    let steps = undo.steps.flatMap { $0.steps.isEmpty ? [$0] : $0.steps }.map(\.message)
    switch ending {
    case "removeAll": #expect(steps == [])
    case "removeTarget": #expect(steps == ["put:"])
    default: #expect(steps == ["add:", "put:", "add:"])
    }
    undo.removeAll()
  }

  @Test("the rule of a group that is taken back may use the stack in its deinit")
  func takenBack() throws {
    let page = Page(undo)
    #expect(throws: Refused.self) {
      try undo.group(undoingErrors: true) {
        try undo.beginGroup()
        try page.add(1, coalescing: Leaving { [undo] in undo.removeAll() }.rule)
        throw Refused()
      }
    }
    #expect(undo.groupDepth == 0)
    #expect(page.count == 0)
  }

  @Test("the rule of an emptied group may use the stack in its deinit")
  func replacedRule() throws {
    let page = Page(undo)
    try undo.beginGroup()
    try page.add(1, coalescing: Leaving { [undo] in undo.removeAll() }.rule)
    undo.removeAll()
    try page.add(2)
    try undo.endGroup()
    #expect(undo.undoCount == 0)
  }

  @Test("a value of another task may use the stack in its deinit when a newer one replaces it")
  func replacedInfo() async throws {
    let (page, gate) = (Page(undo), Gate())
    undo.groupsByEvent = true
    undo.record(on: page) { _ in await gate.wait() }
    undo.endEvent()
    let undoing = Task { try await undo.undo() }
    await gate.reached()
    try page.add(1)
    undo.setInfo(Leaving { [undo] in undo.removeAll() }, for: "key")
    try page.add(2)
    undo.setInfo(1, for: "key")
    gate.open()
    #expect(try await undoing.value)
    #expect(undo.undoInfo(for: "key") as? Int == 1)
  }

  @Test("a group ends where its body ends, whatever an observer opens")
  func openedByObserver() throws {
    let page = Page(undo)
    let token = undo.observe { stack, event in
      if event == .didOpenGroup(depth: 1) { try? stack.beginGroup() }
    }
    try undo.group { try page.add(1) }
    #expect(undo.groupDepth == 0)
    undo.removeObserver(token)
  }

  @Test(
    "a replaced handler may use the stack in its deinit",
    arguments: ["onEvent", "onDiagnostic", "titles"])
  func replacedHandler(which: String) throws {
    let page = Page(undo)
    undo.groupsByEvent = true
    do {
      let leaving = Leaving { [undo] in
        try? page.add(1)
        undo.endEvent()
        _ = undo.undoTitle
        try? undo.group { try undo.beginGroup() }
      }
      switch which {
      case "onEvent": undo.onEvent = { withExtendedLifetime(leaving) {} }
      case "onDiagnostic": undo.onDiagnostic = { _ in withExtendedLifetime(leaving) {} }
      default: undo.titles = UndoTitles(undo: { _ in withExtendedLifetime(leaving) { "" } })
      }
    }
    undo.onEvent = nil
    undo.onDiagnostic = nil
    undo.titles = UndoTitles()
    #expect(undo.undoCount == 1)
  }
}
