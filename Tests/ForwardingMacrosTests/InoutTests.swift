// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ProxyProtocols
  import Forwarding
  import Foundation
  import Invocations
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
#endif
