// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import ForwardingUndo
import Invocations
import Testing

/// Calls a closure at its end.
private final class Leaving: @unchecked Sendable {
  // SAFETY: the tests use it on one thread.
  private let end: () -> Void
  init(_ end: @escaping () -> Void) { self.end = end }
  deinit { end() }
}

/// The target of messages with such objects.
private final class Shelf: MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("put:") { (_: Shelf, _: Leaving) in }
  }
}

@Suite("A stack that is used in the middle of a change")
struct ReentrancyTests {
  let undo = UndoStack()

  @Test("a handler is called before a group closes or an undo begins, and after each change")
  func events() throws {
    let page = Page(undo)
    var events = ""
    undo.onCheckpoint = { events += "before " }
    undo.onChange = { events += "after " }
    func expect(_ expected: String, _ change: () throws -> Void) {
      events = ""
      try? change()
      #expect(events == expected)
    }
    expect("after ") { try page.add(1) }
    expect("after ") { undo.name = "Add" }
    expect("after before after ") { try undo.group { try page.add(1) } }
    expect("before after ") { try undo.undo() }
    expect("before after ") { try undo.redo() }
    page.refusal = Refused()
    expect("before after ") { try undo.undo() }
    undo.onDiagnostic = { _ in }
    undo.removeAll()
    try Page(undo).add(1)
    expect("before after ") { _ = try undo.undo() }
    try page.add(1)
    expect("after ") { undo.removeAll(for: page) }
    expect("") { undo.removeAll(for: page) }
    expect("after ") { undo.removeAll() }
  }

  @Test("records made before a group closes or an undo begins are part of it")
  func recording() throws {
    let page = Page(undo)
    var pending = false
    undo.onCheckpoint = {
      if pending { try? page.add(10) }
      pending = false
    }
    pending = true
    try undo.group { try page.add(1) }
    #expect(undo.undoCount == 1)
    #expect(undo.steps == ["(Page add: -1; Page add: -10)"])
    pending = true
    try undo.undo()
    #expect(page.count == 11)
    #expect(undo.undoCount == 1)
  }

  @Test("a handler can call any function, and is not called for that")
  func reentrant() throws {
    let page = Page(undo)
    var refused = 0
    undo.onCheckpoint = {
      do { try undo.undo() } catch { refused += 1 }
      do { try undo.beginGroup() } catch { refused += 1 }
      do { try undo.endGroup() } catch { refused += 1 }
      do { try undo.endGroup() } catch { refused += 1 }
      undo.endEvent()
    }
    undo.onChange = {
      if undo.redoCount > 0 { undo.removeAll() }
    }
    for number in 1...2 { try undo.group { try page.add(number) } }
    #expect(undo.groupDepth == 0)
    #expect(refused == 2)
    // The handler has undone the newer group, and this the older one.
    try undo.undo()
    #expect(page.count == 0)
    #expect((undo.undoCount, undo.redoCount) == (0, 0))
  }

  @Test("arguments, targets and handlers may use the stack in their deinit, in random histories")
  func dying() throws {
    let (page, shelf) = (Page(undo), Shelf())
    let put = try Message<Void, Leaving>("put:")
    undo.onDiagnostic = { _ in }
    var random = SeededGenerator(seed: 7)
    var deaths = 0
    func act(_ choice: Int) {
      switch choice {
      case 0: _ = try? undo.undo()
      case 1: _ = try? undo.redo()
      case 2: undo.removeAll()
      case 3: undo.removeAll(for: page)
      case 4: undo.levels = deaths % 4
      case 5: try? undo.group { try page.add(1) }
      case 6: undo.groupsByEvent.toggle()
      case 7: try? undo.endGroup()
      case 8: undo.endCoalescing()
      default: try? page.add(1)
      }
    }
    for index in 0..<5000 {
      let choice = random.below(12)
      let leaving = Leaving {
        deaths += 1
        act(choice)
      }
      let rules: [UndoCoalescing?] = [nil, .join("a"), .keepFirst("b")]
      let rule = rules[random.below(3)]
      switch random.below(6) {
      case 0: undo.record(on: leaving, strongly: true) { _ in }
      case 1: undo.record(on: page, coalescing: rule) { _ in withExtendedLifetime(leaving) {} }
      case 2: undo.onEvent = { withExtendedLifetime(leaving) {} }
      case 3: undo.onChange = { withExtendedLifetime(leaving) {} }
      default: try undo.record(on: shelf, put, leaving, coalescing: rule)
      }
      if index % 5 == 0 { try? undo.beginGroup() }
      act(random.below(20))
      if undo.groupDepth > 20 { undo.removeAll() }
      while undo.groupDepth > 20 { try undo.endGroup() }
    }
    undo.groupsByEvent = false
    while undo.groupDepth > 0 { try undo.endGroup() }
    (undo.onEvent, undo.onChange) = (nil, nil)
    undo.removeAll()
    #expect(deaths == 5000)
  }
}
