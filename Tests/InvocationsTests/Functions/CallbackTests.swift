// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Synchronization
import TypeEncodings
import Testing

@testable import Invocations

@Suite("Callbacks: C function pointers to Swift closures")
struct CallbackTests {
  @Test("a callback works as qsort's comparator")
  func qsortComparator() throws {
    let calls = Guarded(0)
    let compare = try Callback { (a: UnsafePointer<Int32>, b: UnsafePointer<Int32>) -> Int32 in
      calls.withLock { $0 += 1 }
      return a.pointee < b.pointee ? -1 : a.pointee > b.pointee ? 1 : 0
    }
    typealias Comparator = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
    var numbers: [Int32] = (0..<200).map { ($0 &* 7919) % 1009 }
    qsort(&numbers, numbers.count, 4, try compare.function(as: Comparator.self))
    withExtendedLifetime(compare) {}
    #expect(numbers == numbers.sorted())
    #expect(calls.withLock { $0 } > 200)
  }

  @Test("a tree of the C library calls back with pointers and an enum")
  func treeWalk() throws {
    let functions = FunctionTable()
    let compare = try Callback { (a: UnsafePointer<Int32>, b: UnsafePointer<Int32>) -> Int32 in
      a.pointee - b.pointee
    }
    let program = try Library("")
    try functions.register("tsearch", encoding: "^v^v^^v^?", unsafeSymbolIn: program)
    try functions.register("twalk", encoding: "v^v^?", unsafeSymbolIn: program)
    let seen = Guarded<[Int32]>([])
    let visit = try Callback {
      (node: UnsafePointer<UnsafePointer<Int32>>, order: UInt32, _: Int32) in
      // Inner nodes are counted at their second visit, leaves at their only one.
      if order == 1 || order == 3 { seen.withLock { $0.append(node.pointee.pointee) } }
    }
    let values: [Int32] = [5, 2, 9, 1, 7]
    let memory = UnsafeMutablePointer<Int32>.allocate(capacity: values.count)
    defer { memory.deallocate() }
    memory.initialize(from: values, count: values.count)
    var root: UnsafeMutableRawPointer?
    try withUnsafeMutablePointer(to: &root) { root in
      for index in values.indices {
        try functions.call("tsearch", memory + index, root, compare.address)
      }
    }
    try functions.call("twalk", root, visit.address)
    #expect(seen.withLock { $0 } == values.sorted())
    withExtendedLifetime((compare, visit)) {}
  }

  @Test(
    "callbacks work as SQLite's row callback and as an SQL function",
    .notEmulated("the emulated system has no SQLite"))
  func sqlite() throws {
    // `make setup` installs the library; without it the test reports so here.
    let sqlite = try Library("libsqlite3.so.0")
    let functions = FunctionTable()
    try functions.register(
      "open", encoding: "i*^^v", unsafeSymbolIn: sqlite, symbol: "sqlite3_open")
    try functions.register(
      "exec", encoding: "i^v*^?^v^^v", unsafeSymbolIn: sqlite, symbol: "sqlite3_exec")
    try functions.register(
      "define", encoding: "i^v*ii^v^?^?^?", unsafeSymbolIn: sqlite,
      symbol: "sqlite3_create_function")
    try functions.register(
      "number", encoding: "q^v", unsafeSymbolIn: sqlite, symbol: "sqlite3_value_int64")
    try functions.register(
      "answer", encoding: "v^vq", unsafeSymbolIn: sqlite, symbol: "sqlite3_result_int64")
    try functions.register(
      "close", encoding: "i^v", unsafeSymbolIn: sqlite, symbol: "sqlite3_close")
    var database: UnsafeMutableRawPointer?
    let opened = try withUnsafeMutablePointer(to: &database) {
      try functions.call("open", ":memory:", $0, returning: Int32.self)
    }
    #expect(opened == 0)
    let none = nil as UnsafeRawPointer?
    let double = try Callback {
      (context: UnsafeRawPointer, _: Int32, values: UnsafePointer<UnsafeRawPointer>) in
      let number = try functions.call("number", values[0], returning: Int.self)
      try functions.call("answer", context, 2 * number)
    }
    #expect(
      try functions.call(
        "define", database, "twice", Int32(1), Int32(1), none, double.address, none, none,
        returning: Int32.self) == 0)
    let rows = Guarded<[String]>([])
    let row = try Callback {
      (
        _: UnsafeRawPointer?, count: Int32, values: UnsafePointer<UnsafePointer<CChar>?>,
        _: UnsafeRawPointer?
      ) -> Int32 in
      rows.withLock { rows in
        for index in 0..<Int(count) {
          rows.append(values[index].map { String(cString: $0) } ?? "NULL")
        }
      }
      return 0
    }
    let sql =
      "create table t (n); insert into t values (1), (21); select n, twice(n) from t order by n;"
    #expect(
      try functions.call("exec", database, sql, row.address, none, none, returning: Int32.self) == 0
    )
    #expect(rows.withLock { $0 } == ["1", "2", "21", "42"])
    #expect(try functions.call("close", database, returning: Int32.self) == 0)
    withExtendedLifetime((double, row)) {}
  }

  @Test("a call of any signature arrives as an invocation")
  func invocation() throws {
    let (apply, function) = try Fixtures.call("f_apply")
    let negate = try Callback(MethodSignature("qq")) { call in
      try call.setResult(-call.argument(at: 0, as: Int.self))
    }
    try apply.setArgument(negate.address, at: 0)
    try apply.setArgument(17, at: 1)
    try apply.invoke(using: function)
    #expect(try apply.result(as: Int.self) == -17)
    withExtendedLifetime(negate) {}
  }

  @Test("after an error C gets zero, and the error is reported")
  func errors() throws {
    struct Refusal: Error {}
    let seen = Guarded<[String]>([])
    let callback = try Callback(onError: { error in
      seen.withLock { $0.append("\(type(of: error))") }
    }) {
      (_: Int) throws -> Int in throw Refusal()
    }
    #expect(try callback.function(as: (@convention(c) (Int) -> Int).self)(5) == 0)
    let text = try Callback(onError: { error in seen.withLock { $0.append("\(error)") } }) {
      (text: String) -> Int in text.count
    }
    #expect(try text.function(as: (@convention(c) (UnsafePointer<CChar>?) -> Int).self)(nil) == 0)
    #expect(
      seen.withLock { $0 } == ["Refusal", "argument 0 is NULL or not UTF-8; ask for a pointer"])
  }

  @Test("a result that C would have to free is refused")
  func ownedResults() {
    #expect(throws: InvocationError.ownedResultInCallback(encodingOf("*"))) {
      try Callback { () -> String in "text" }
    }
    #expect(throws: InvocationError.ownedResultInCallback(encodingOf("@"))) {
      try Callback { () -> Subject in Subject() }
    }
    #expect(throws: InvocationError.ownedResultInCallback(encodingOf("@"))) {
      try Callback(MethodSignature("@@:")) { _ in }
    }
  }

  @Test("a Swift closure type is not a C function")
  func wrongFunctionType() throws {
    let callback = try Callback { () -> Void in }
    #expect(throws: InvocationError.wrongSize(expected: 8, given: 16)) {
      try callback.function(as: (() -> Void).self)
    }
  }

  @Test("many threads unknown to Swift call in concurrently")
  func foreignThreads() throws {
    let total = Atomic(0)
    let body = try Callback { (context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? in
      total.add(Int(bitPattern: context), ordering: .relaxed)
      return context
    }
    typealias Start = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    let start = try body.function(as: Start.self)
    var threads: [pthread_t] = []
    for index in 1...8 {
      var thread = pthread_t()
      #expect(pthread_create(&thread, nil, start, UnsafeMutableRawPointer(bitPattern: index)) == 0)
      threads.append(thread)
    }
    for (index, thread) in threads.enumerated() {
      var result: UnsafeMutableRawPointer?
      pthread_join(thread, &result)
      #expect(Int(bitPattern: result) == index + 1)
    }
    withExtendedLifetime(body) {}
    #expect(total.load(ordering: .relaxed) == 36)
  }
}
