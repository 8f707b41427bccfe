// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Invocations
import Synchronization
import Testing
import TypeEncodings

@Suite("Selectors, found without a lock")
struct SelectorTests {
  @Test("names are compared by their bytes, as in a dictionary")
  func model() throws {
    var random = SeededGenerator(seed: 12)
    var model: [[UInt8]: Selector] = [:]
    let call = try Invocation(parsing: "v:")
    for _ in 0..<4000 {
      let length = Int.random(in: 0...20, using: &random)
      let name =
        "model" + String((0..<length).map { _ in "ab:é".randomElement(using: &random)! })
      let known = model[Array(name.utf8)]
      if known != nil { #expect(Selector(existing: name) == known) }
      let selector = try Selector(interning: name)
      if let known { #expect(selector == known) }
      model[Array(name.utf8)] = selector
      #expect(selector.name == name)
      #expect(selector.numberOfArguments == name.utf8.count { $0 == 0x3A })
      try call.setArgument(bytes: withUnsafeBytes(of: selector.address) { Array($0) }, at: 0)
      #expect(try call.argument(at: 0, as: Selector.self) == selector)
    }
    #expect(Set(model.values).count == model.count)
    #expect(try Selector(interning: "é:") != Selector(interning: "e\u{301}:"))
  }

  @Test("a word that is not a selector is not dereferenced")
  func words() throws {
    let known = Selector("words:")
    let call = try Invocation(parsing: "v:")
    for word in (1...16).map({ known.address + $0 }) + [0, .max] {
      try call.setArgument(bytes: withUnsafeBytes(of: word) { Array($0) }, at: 0)
      #expect((try? call.argument(at: 0, as: Selector.self)) == nil)
      #expect(call.arguments[0] == nil)
    }
  }

  @Test("8 threads find and intern selectors while the table grows")
  func threads() {
    let found = Guarded<[String: Selector]>([:])
    let wrong = Atomic(0)
    onThreads(8) { thread in
      for index in 0..<2000 {
        // Two threads at a time intern the same names.
        let name = "grow:\(thread / 2):\(index):"
        let isRight = (try? Selector(interning: name)).map { selector in
          selector.name == name && Selector(existing: name) == selector
            && found.withLockInPlace { found in
              let first = found[name] ?? selector
              found[name] = first
              return first == selector
            }
        }
        if isRight != true { wrong.add(1, ordering: .relaxed) }
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
    #expect(found.read { $0.count } == 8000)
  }
}
