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

    @Test("what is sent to the proxy of a record is one undo, in its order")
    func recorded() throws {
      let text = Text(undo)
      let heard = Heard(undo)
      func records(_ expected: String?, _ body: (TextEditingProxy) throws -> Void) rethrows {
        undo.removeAll()
        #expect(try undo.record(on: text, as: TextEditingProxy.self, body) == (expected != nil))
        #expect(undo.steps == (expected.map { [$0] } ?? []))
      }
      records(nil) { _ in }
      // A list of steps begins with the oldest change, and an undo with the newest.
      records("(Text insert:at: \"b\" 1; Text insert:at: \"a\" 0)") {
        $0.insert("a", at: 0)
        $0.insert("b", at: 1)
      }
      try undo.undo()
      #expect(text.text == "ab")
      try undo.redo()
      #expect(text.text == "")
      // A record whose closure throws is not kept.
      #expect(throws: Refused.self) {
        try records(nil) {
          $0.insert("a", at: 0)
          throw Refused()
        }
      }
      #expect(!undo.canUndo)
      // There is no result before the undo, other than the default of the requirement.
      records("Text trimTo: 0") { #expect($0.trim(to: 0) == 0) }
      records("Text search: \"a\"") { _ = try? $0.search("a") }
      let error = #expect(throws: UndoError.self) { try records(nil) { _ = try $0.search("a") } }
      #expect("\(error!)".hasPrefix("'search:' has no result while"))
      #expect(!undo.canUndo && heard.diagnostics.isEmpty)
      // An inout argument is borrowed for the record only.
      var numbers = [1]
      records(nil) { $0.fill(&numbers) }
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
