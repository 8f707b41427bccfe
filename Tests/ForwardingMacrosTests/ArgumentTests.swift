// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import Foundation
  import Invocations
  import ProxyProtocols
  import Testing

  @Forwardable
  protocol Editing: AnyObject {
    func edit(_ text: inout String)
    func swap(_ one: inout [Int], with other: inout [Int]) throws -> Int
    @Otherwise(false) func check(_ text: inout String, at index: Int) throws(Lame) -> Bool
    @Optional func polish(_ text: inout String)
  }

  private final class Editor: Editing {
    let mark: String
    init(_ mark: String) { self.mark = mark }
    func edit(_ text: inout String) { text += mark }
    func swap(_ one: inout [Int], with other: inout [Int]) throws -> Int {
      (one, other) = (other, one)
      return one.count
    }
    func check(_ text: inout String, at index: Int) throws(Lame) -> Bool {
      text = "\(text)@\(index)"
      if index < 0 { throw Lame(name: mark) }
      return true
    }
  }

  @Suite("Requirements with 'inout' arguments")
  struct InoutTests {
    private let editors = Multicast<EditingProxy>()

    init() { editors.add(Editor("a"), strongly: true) }

    @Test(
      "a target changes several variables, also before it throws, and what is left out does not")
    func changes() throws {
      var (one, other) = ([1], [2, 3])
      #expect(try editors.proxy.swap(&one, with: &other) == 2)
      #expect(one == [2, 3])
      #expect(other == [1])
      var text = "-"
      for _ in 0..<2 { editors.proxy.polish(&text) }
      #expect(text == "-")
      #expect(try editors.proxy.check(&text, at: 1))
      #expect(throws: Lame(name: "a")) { try editors.proxy.check(&text, at: -1) }
      #expect(text == "-@1@-1")
      editors.add(Editor("b"), strongly: true)
      editors.proxy.edit(&text)
      #expect(text == "-@1@-1ab", "each target sees the changes of the one before it")
    }

    @Test("lending a variable does not copy its value")
    func unique() {
      var text = String(repeating: "x", count: 100)
      text.reserveCapacity(200)
      let before = text.utf8.withContiguousStorageIfAvailable { $0.baseAddress }
      editors.proxy.edit(&text)
      let after = text.utf8.withContiguousStorageIfAvailable { $0.baseAddress }
      #expect(before == after)
    }

    @Test("a message has the variable alone, on its thread, once at a time, and until it is over")
    func lent() throws {
      let (kept, refused) = (Guarded<InoutVariable<String>?>(nil), Guarded(""))
      let notLent = InvocationError.variableNotLent(SwiftType(String.self))
      let watched = Intercepting<EditingProxy>(Editor("a"))
      watched.messages.edit.before { variable in
        try variable.change { $0 += "!" }
        kept.withLock { $0 = variable }
        #expect(throws: notLent) {
          try variable.change { _ in try variable.change { $0 += "?" } }
        }
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          do { try variable.change { $0 += "elsewhere" } } catch {
            refused.withLock { $0 = "\(error)" }
          }
          done.signal()
        }
        done.wait()
      }
      var text = "-"
      watched.proxy.edit(&text)
      #expect(text == "-!a")
      #expect(refused.read { $0 } == "\(notLent)")
      let variable = try #require(kept.read { $0 })
      #expect(throws: notLent) { try variable.change { $0 += "late" } }
      #expect(text == "-!a")
    }
  }

  /// Not `Sendable`.
  private final class Sheet {
    var text: String
    init(_ text: String) { self.text = text }
  }

  private enum Shut: Error { case closed }

  @Forwardable
  private protocol Binding: AnyObject {
    func take(_ draft: sending Sheet, _ number: Int)
    @Otherwise(-1) func weigh(draft: sending Sheet) -> Int
    func check(_ draft: sending Sheet) throws
    @Otherwise(throw: Shut.closed) func admit(_ draft: sending Sheet) throws(Shut) -> Int
    func upload(_ draft: sending Sheet) async throws -> Int
    @Otherwise(-1) func wait(for draft: sending Sheet, and other: sending Sheet) async -> Int
    func wrap<Value>(_ value: sending Value) -> Value?
    @Optional func leave(_ draft: sending Sheet)
    func close()
  }

  private final class Binder: Binding {
    var drafts: [Sheet] = []
    var closed = 0
    func take(_ draft: sending Sheet, _ number: Int) { drafts.append(draft) }
    func weigh(draft: sending Sheet) -> Int { draft.text.count }
    func check(_ draft: sending Sheet) throws { throw Shut.closed }
    func admit(_ draft: sending Sheet) throws(Shut) -> Int { draft.text.count }
    func upload(_ draft: sending Sheet) async throws -> Int { draft.text.count }
    func wait(for draft: sending Sheet, and other: sending Sheet) async -> Int {
      draft.text.count + other.text.count
    }
    func wrap<Value>(_ value: sending Value) -> Value? { value }
    func close() { closed += 1 }
  }

  /// A value that gets the argument in its box.
  @Forwardable
  private protocol Filing {
    mutating func file(_ draft: sending Sheet)
    @Otherwise(0) var count: Int { get }
  }

  private struct Folder: Filing {
    var count = 0
    mutating func file(_ draft: sending Sheet) { count += draft.text.count }
  }

  @Suite("Requirements with 'sending' parameters")
  struct SendingTests {
    @Test("the target of a SingleTarget gets the argument")
    func single() async throws {
      let editor = Binder()
      let single = SingleTarget<BindingProxy>(editor)
      single.proxy.take(Sheet("one"), 1)
      #expect(editor.drafts.map(\.text) == ["one"])
      #expect(single.proxy.weigh(draft: Sheet("four")) == 4)
      #expect(throws: Shut.closed) { try single.proxy.check(Sheet("")) }
      #expect(try single.proxy.admit(Sheet("four")) == 4)
      #expect(try await single.proxy.upload(Sheet("three")) == 5)
      #expect(await single.proxy.wait(for: Sheet("a"), and: Sheet("bc")) == 3)
      #expect(single.proxy.wrap(Sheet("kept"))?.text == "kept")
      single.proxy.leave(Sheet(""))
    }

    @Test("a structure gets it, too")
    func values() {
      let folders = SingleTarget<FilingProxy>(Folder())
      folders.proxy.file(Sheet("four"))
      folders.proxy.file(Sheet("one"))
      #expect(folders.proxy.count == 7)
    }

    @Test(
      "without a target it is as for any requirement; a Multicast refuses it, and calls no target")
    func refused() async throws {
      let text = "an argument of 'take::' is 'sending', so only one target may get it; "
      #expect("\(ForwardingError.needsSingleTarget("take::"))" == text + "use a 'SingleTarget'")
      for targets in [
        SingleTarget<BindingProxy>(), Multicast<BindingProxy>(), DataSource<BindingProxy>(),
      ] {
        let (editor, heard, isSingle) = (Binder(), Story(), targets is SingleTarget<BindingProxy>)
        if !isSingle { targets.add(editor) }
        heard.listen(to: targets.untyped)
        let error = isSingle ? ForwardingError.targetGone : ForwardingError.needsSingleTarget
        targets.proxy.take(Sheet("one"), 1)
        #expect(targets.proxy.weigh(draft: Sheet("four")) == -1)
        #expect(throws: error("check:")) { try targets.proxy.check(Sheet("")) }
        #expect(throws: Shut.closed) { try targets.proxy.admit(Sheet("")) }
        await #expect(throws: error("upload:")) { try await targets.proxy.upload(Sheet("")) }
        #expect(await targets.proxy.wait(for: Sheet("a"), and: Sheet("bc")) == -1)
        #expect(editor.drafts.isEmpty)
        let told = heard.take().filter { $0.hasPrefix("unheard") }
        let refused = isSingle ? [] : ["take::", "weighWithDraft:", "admit:", "waitFor:and:"]
        #expect(told == refused.map { "unheard \($0) \(error(Selector(stringLiteral: $0)))" })
        targets.proxy.close()
        #expect(editor.closed == (isSingle ? 0 : 1), "its other requirements work")
      }
    }

    @Test("a target that takes messages alone refuses it")
    func messages() {
      let single = SingleTarget<BindingProxy>()
      single.untyped.add(MulticastProxy(), strongly: true)
      let check = ForwardingError.Context(selector: "check:", target: MulticastProxy.self)
      #expect(throws: ForwardingError.notAMessage(check, because: "an argument is 'sending'")) {
        try single.proxy.check(Sheet(""))
      }
    }
  }
#endif
