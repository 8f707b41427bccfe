// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Invocations
import Testing
import TypeEncodings

@Suite("Recording without a proxy")
struct RecordingTests {
  let undo = UndoStack()

  @Test("a forwarding target can retain the call of an undo for longer than the step lives")
  func forwarding() throws {
    final class Keeper: ForwardingProxy, @unchecked Sendable {
      var kept: [Invocation] = []
      override func forward(_ invocation: Invocation) throws {
        invocation.retainArguments()
        kept.append(invocation)
      }
      override func methodSignature(for selector: Selector) -> MethodSignature? {
        message?.signature
      }
      var message: Message<Void, String, Page>?
    }
    let (keeper, text) = (Keeper(), "a text that is longer than fits a word")
    let page = Page(undo)
    let message = try Message<Void, String, Page>("title:page:")
    keeper.message = message
    try undo.record(on: keeper, message, text, page)
    try undo.undo()
    undo.removeAll()
    #expect(keeper.kept.map(\.selector) == ["title:page:"])
    #expect(try keeper.kept[0].argument(at: 2, as: String.self) == text)
    #expect(try keeper.kept[0].argument(at: 3, as: Page.self) === page)
  }

  @Test("a call that cannot be made again is refused when it is recorded")
  func refused() throws {
    let page = Page(undo)
    func refuses<Failure: Error>(_ error: Failure.Type, _ record: () throws -> Void) {
      #expect(throws: error) { try record() }
      #expect(!undo.canUndo)
    }
    refuses(InvocationError.self) { try undo.record(on: page, Message<Void, Int>("ad:"), 1) }
    refuses(InvocationError.self) {
      try undo.record(on: page, Message<Void, String>("add:"), "one")
    }
    #expect(throws: InvocationError.notAwaited("save")) {
      try undo.record(on: page, Message<Void>("save"))
    }
    // A function has no selector, also if the target forwards all messages.
    let function = try Invocation(MethodSignature(parsing: "vi:"))
    try function.setArgument(Selector("stop"), at: 1)
    #expect(throws: InvocationError.selectorNotSet) {
      try undo.record(on: MulticastProxy(), function)
    }
    // A pointer to memory that the call does not own.
    let target = ClosureTarget()
    try target.register("fill:") { (_: UnsafeMutablePointer<Int32>) in }
    var number: Int32 = 0
    try unsafe withUnsafeMutablePointer(to: &number) { pointer in
      let call = try Invocation(MethodSignature("v@:^i"), selector: "fill:")
      unsafe try call.setArgument(pointer, at: 2)
      refuses(ForwardingError.self) { try undo.record(on: target, call) }
    }
  }

  @Test("recording can be disabled for a closure")
  func disabled() {
    let page = Page(undo)
    undo.withoutRecording {
      #expect(!undo.isRecordingEnabled)
      try? page.add(1)
    }
    #expect(undo.isRecordingEnabled)
    #expect(undo.undoCount == 0)
  }

  @Test("steps describe the undos as data, the next one last; targets are held weakly")
  func steps() throws {
    let (page, heard) = (Page(undo), Heard(undo))
    var other: Page? = Page(undo)
    weak let watched = other
    try page.setTitle("one")
    try undo.group("Twice") {
      try page.add(1)
      try page.add(2)
    }
    undo.record(on: page, label: "sorting") { _ in }
    try undo.record(on: page, Message<Int>("halve"))
    undo.record(on: page) { try $0.add(3) }
    try other?.add(2)
    undo.record(on: other!, label: "filling") { try $0.add(4) }
    other = nil
    #expect(watched == nil)
    #expect(
      undo.steps == [
        "Page setTitle: \"\"", "Twice: (Page add: -1; Page add: -2)", "Page sorting", "Page halve",
        "Page closure", "Page add: -2 (gone)", "Page filling (gone)",
      ])
    #expect(try undo.undo())
    #expect(page.count == 6, "a closure gets its target")
    for _ in 0..<3 { #expect(try undo.undo()) }
    let gone = ["Page filling", "Page add: -2"].map {
      "'\($0) (gone)' was skipped, because its target was released"
    }
    // The result of a message is ignored.
    let oneWay = ["Page halve", "Page sorting"].map {
      "'\($0)' recorded nothing, so it cannot be reversed"
    }
    #expect(heard.diagnostics == gone + oneWay)
    #expect(undo.redoSteps == ["Page add: -3", "Twice: (Page add: 2; Page add: 1)"])
  }
}
