// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing

@Suite("Functions by name, found without a lock")
struct NamedFunctionsTests {
  @Test("a table finds the functions that a dictionary finds, after any change")
  func model() throws {
    var random = SeededGenerator(seed: 11)
    let functions = FunctionTable()
    var model: [[UInt8]: Int] = [:]
    let names = (0..<300).map { index -> String in
      switch index {
      case 0: return ""
      case 1: return "\0"
      case 2: return "e\u{301}"
      case 3: return "é"
      case 4: return String(repeating: "long", count: 200)
      default:
        let length = Int.random(in: 1...24, using: &random)
        return String((0..<length).map { _ in "ab:\0é".randomElement(using: &random)! })
      }
    }
    for round in 0..<1000 {
      let name = names.randomElement(using: &random)!
      let key = Array(name.utf8)
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        #expect(functions.unregister(name) == (model.removeValue(forKey: key) != nil))
      case 1:
        try functions.register(name, replacing: true) { round }
        model[key] = round
      case 2:
        let isNew = (try? functions.register(name) { round }) != nil
        #expect(isNew == (model[key] == nil))
        if isNew { model[key] = round }
      default:
        #expect((try? functions.call(name, returning: Int.self)) == model[key])
      }
    }
    #expect(Set(functions.names.map { Array($0.utf8) }) == Set(model.keys))
    for name in names { #expect((functions[name] != nil) == (model[Array(name.utf8)] != nil)) }
    for name in names { functions.unregister(name) }
    #expect(functions.names.isEmpty)
  }

  @Test("a function that removes or replaces itself ends first")
  func itself() throws {
    let functions = FunctionTable()
    let census = Census()
    do {
      let tracked = Tracked("seven", in: census)
      try functions.register("once") { [unowned functions] () -> String in
        functions.unregister("once")
        return tracked.name
      }
    }
    #expect(try functions.call("once", returning: String.self) == "seven")
    #expect(census.alive == 0)
    #expect(functions.names.isEmpty)
  }

  @Test("nested calls find their functions, deeper than a thread has hold slots")
  func nested() throws {
    let functions = FunctionTable()
    try functions.register("sum") { [unowned functions] (number: Int) throws -> Int in
      if number == 0 { return 0 }
      try functions.register("other\(number)", replacing: true) { number }
      return try number + functions.call("sum", number - 1, returning: Int.self)
    }
    #expect(try functions.call("sum", 200, returning: Int.self) == 20100)
    #expect(functions.names.count == 201)
  }

  @Test("6 threads call functions that 2 threads replace, and replaced ones are released")
  func threads() throws {
    let census = Census()
    weak var table: FunctionTable?
    do {
      let functions = FunctionTable()
      table = functions
      @Sendable func register(_ number: Int) throws {
        let body = census.owning()
        try functions.register("number", replacing: true) { body(number) }
      }
      try register(0)
      let wrong = Atomic(0)
      onThreads(8) { thread in
        for round in 0..<500 {
          if thread < 2 {
            try? register(round)
            try? functions.register("\(thread) \(round)") { round }
            if round % 2 == 0 { functions.unregister("\(thread) \(round)") }
          } else {
            let number = try? functions.call("number", returning: Int.self)
            if !(0..<500).contains(number ?? -1) { wrong.add(1, ordering: .relaxed) }
          }
        }
      }
      #expect(wrong.load(ordering: .relaxed) == 0)
      #expect(functions.names.count == 501)
      #expect(census.alive == 1)
    }
    // The closures of the threads retain the table for a moment after `onThreads` returns, and the
    // last thread releases the function.
    for _ in 0..<60_000 where table != nil || census.alive > 0 { usleep(1000) }
    #expect(table == nil && census.alive == 0)
  }

  @Test("calls continue while their table is released")
  func end() throws {
    let ends = Atomic(0)
    for _ in 0..<50 {
      var functions: FunctionTable? = FunctionTable()
      try functions?.register("count") { _ = ends.add(1, ordering: .relaxed) }
      let count = try functions?.function("count", as: (() -> Void).self)
      functions = nil
      try count?()
    }
    #expect(ends.load(ordering: .relaxed) == 50)
  }
}
