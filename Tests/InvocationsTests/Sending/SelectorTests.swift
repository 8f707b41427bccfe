// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import ForwardingTestSupport
import Synchronization
import TypeEncodings
import Testing

@testable import Invocations

@Suite("Selectors, found without a lock")
struct SelectorTests {
  private static func randomName(_ random: inout SeededGenerator) -> String {
    let length = Int.random(in: 0...20, using: &random)
    return "model" + String((0..<length).map { _ in "ab:é".randomElement(using: &random)! })
  }

  @Test("names are compared by their bytes, as in a dictionary")
  func model() throws {
    var random = SeededGenerator(seed: 12)
    var model: [[UInt8]: Selector] = [:]
    for _ in 0..<4000 {
      let name = Self.randomName(&random)
      let known = model[Array(name.utf8)]
      if known != nil { #expect(Selector(existing: name) == known) }
      let selector = try Selector(interning: name)
      if let known { #expect(selector == known) }
      model[Array(name.utf8)] = selector
      #expect(selector.name == name)
      #expect(selector.numberOfArguments == name.utf8.count { $0 == 0x3A })
      #expect(Selector(ofWord: UInt64(selector.word)) == selector)
    }
    #expect(Set(model.values).count == model.count)
    #expect(try Selector(interning: "é:") != Selector(interning: "e\u{301}:"))
  }

  @Test("a word that is not a selector is not dereferenced")
  func words() {
    let known = Selector("words:")
    for offset in 1...16 as ClosedRange<UInt> {
      #expect(Selector(ofWord: UInt64(known.word + offset)) == nil)
    }
    #expect(Selector(ofWord: 0) == nil)
    #expect(Selector(ofWord: .max) == nil)
  }

  @Test("short names have distinct hashes")
  func hashes() {
    var random = SeededGenerator(seed: 13)
    var names: [[UInt64]: [UInt8]] = [:]
    for _ in 0..<100_000 {
      let length = Int.random(in: 0...8, using: &random)
      let name = (0..<length).map { _ in UInt8.random(in: 0x60...0x7F, using: &random) }
      // The length is part of the key, because it is compared as well.
      let bytes = name.map { CChar(truncatingIfNeeded: $0) } + [0]
      let key = [fwd_name_hash(bytes, length), UInt64(length)]
      if let other = names.updateValue(name, forKey: key) { #expect(other == name) }
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
            && Selector(ofWord: UInt64(selector.word)) == selector
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

@Suite("Plans cached in signatures")
struct RememberedPlanTests {
  @Test("a signature caches its plan, and so does the signature of the plan")
  func plan() throws {
    let signature = try MethodSignature(parsing: "v@:qqqid")
    let plan = try CallPlan.shared(for: signature)
    #expect(try CallPlan.shared(for: signature) === plan)
    #expect(try CallPlan.shared(for: plan.signature) === plan)
    #expect(try CallPlan.shared(for: MethodSignature(parsing: "v@:qqqid")) === plan)
    #expect(try Invocation(signature, selector: "a:b:c:d:e:").plan === plan)
  }

  @Test("the plan of a signature from outside is released with both")
  func end() throws {
    weak var plan: CallPlan?
    do {
      let signature = try MethodSignature(parsing: "v@:qqqidd")
      plan = try CallPlan.shared(for: signature)
      #expect(plan != nil)
      withExtendedLifetime(signature) {}
    }
    #expect(plan == nil)
  }

  @Test("a plan of other places is another one")
  func others() throws {
    let signature = try MethodSignature(parsing: "v*qqid")
    let variadic = try CallPlan.shared(for: signature, fixedArgumentCount: 1)
    let shared = try CallPlan.shared(for: signature)
    #expect(shared !== variadic)
    #expect(try CallPlan.shared(for: variadic.signature) === shared)
    #expect(try CallPlan.shared(for: signature, fixedArgumentCount: 1) === variadic)
  }
}
