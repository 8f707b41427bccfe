// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingUndo
import Invocations
import Testing

#if Macros
  @Suite("Recording through a proxy")
  struct ProxyRecordingTests {
    let undo = UndoStack()

    @Test("messages to a proxy are recorded, and sent by the undo and the redo")
    func proxy() throws {
      let text = Text(undo)
      text.insert("hello", at: 0)
      text.insert(" world", at: 5)
      #expect(text.text == "hello world")
      try undo.undo()
      #expect(text.text == "hello")
      try undo.undo()
      #expect(text.text == "")
      try undo.redo()
      try undo.redo()
      #expect(text.text == "hello world")
      #expect(undo.steps == ["Text remove:at: 5 0", "Text remove:at: 6 5"])
    }

    @Test("several messages of one record are one undo, in their order; none are no undo")
    func several() throws {
      let text = Text(undo)
      #expect(!undo.record(on: text, as: TextEditingProxy.self) { _ in })
      undo.record(on: text, as: TextEditingProxy.self) {
        $0.insert("a", at: 0)
        $0.insert("b", at: 1)
      }
      #expect(undo.undoCount == 1)
      try undo.undo()
      #expect(text.text == "ab")
      try undo.redo()
      #expect(text.text == "")
    }

    @Test("a record whose closure throws is not kept")
    func throwing() throws {
      let text = Text(undo)
      #expect(throws: Refused.self) {
        try undo.record(on: text, as: TextEditingProxy.self) {
          $0.insert("a", at: 0)
          throw Refused()
        }
      }
      #expect(!undo.canUndo)
    }

    @Test("a requirement with a result returns its default answer while it is recorded")
    func otherwise() throws {
      let text = Text(undo)
      var answer: Int?
      undo.record(on: text, as: TextEditingProxy.self) { answer = $0.trim(to: 0) }
      #expect(answer == 0)
      #expect(undo.undoCount == 1)
    }

    @Test("a message whose result is used is refused, unless the result is ignored")
    func result() throws {
      let text = Text(undo)
      let error = #expect(throws: UndoError.self) {
        try undo.record(on: text, as: TextEditingProxy.self) { _ = try $0.search("a") }
      }
      #expect("\(error!)".hasPrefix("'search:' has no result while"))
      #expect(!undo.canUndo)
      #expect(undo.record(on: text, as: TextEditingProxy.self) { _ = try? $0.search("a") })
      #expect(undo.undoCount == 1)
    }

    @Test("an inout argument is borrowed for the record only, so it is refused and reported")
    func inoutArgument() throws {
      let text = Text(undo)
      let heard = Heard(undo)
      ForwardingEvent.destination = .nowhere
      defer { ForwardingEvent.destination = .standardError }
      var numbers = [1]
      #expect(!undo.record(on: text, as: TextEditingProxy.self) { $0.fill(&numbers) })
      #expect(!undo.canUndo)
      #expect(heard.diagnostics.count == 1)
      #expect(heard.diagnostics[0].hasPrefix("'fill:' was not recorded"))
    }

    @Test(
      "a proxy used after its record records nothing then, and nothing for another record",
      arguments: ["one call", "several", "an error"])
    func kept(what: String) throws {
      let text = Text(undo)
      let other = Text(undo)
      var kept: TextEditingProxy?
      _ = try? undo.record(on: text, as: TextEditingProxy.self) {
        kept = $0
        $0.insert("a", at: 0)
        if what == "several" { $0.insert("b", at: 0) }
        if what == "an error" { throw Refused() }
      }
      #expect(throws: UndoError.self) { try kept?.replaceAll("b") }
      let count = undo.undoCount
      undo.record(on: other, as: TextEditingProxy.self) {
        $0.insert("c", at: 0)
        #expect(throws: UndoError.self) { try kept?.replaceAll("b") }
      }
      #expect(count == (what == "an error" ? 0 : 1))
      #expect(undo.steps.dropFirst(count) == ["Text insert:at: \"c\" 0"])
    }

    @Test("a record inside another one records its own messages")
    func nested() throws {
      let text = Text(undo)
      undo.record(on: text, as: TextEditingProxy.self) { outer in
        undo.record(on: text, as: TextEditingProxy.self) { $0.insert("inner", at: 0) }
        outer.insert("outer", at: 0)
      }
      #expect(undo.steps == ["Text insert:at: \"inner\" 0", "Text insert:at: \"outer\" 0"])
    }
  }
#endif
