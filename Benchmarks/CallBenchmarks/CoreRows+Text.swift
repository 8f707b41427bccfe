// SPDX-License-Identifier: Apache-2.0
import BenchmarkSubjects
import Forwarding

// Text to C functions, and back: `strlen` of 15 bytes, which a small string has, and of 200.
extension CoreRows {
  static func texts() throws -> [Benchmark] {
    let small = String(repeating: "x", count: 15)
    let large = String(repeating: "x", count: 200)
    return try lengths("15", small) + lengths("200", large) + results() + messages(small)
  }

  private static func lengths(_ size: String, _ text: String) throws -> [Benchmark] {
    let hand = "text/strlen-\(size)/by-hand"
    let program = try Library("")
    let functions = FunctionTable()
    try unsafe functions.register("strlen", encoding: "Q*", unsafeSymbolIn: program)
    for index in 0..<100 { try functions.register("other\(index)") { index } }
    let call = try unsafe unsafeBitCast(
      program.address(of: "strlen"), to: (@convention(c) (UnsafePointer<CChar>) -> UInt).self)
    let length = try functions.function("strlen", as: ((String) -> UInt).self)
    return [
      Benchmark(hand) { count in
        var sum: UInt = 0
        for _ in 0..<count { sum &+= unsafe text.withCString { unsafe call($0) } }
        subject_use(Int64(sum))
      },
      Benchmark("text/strlen-\(size)/typed", over: hand) { count in
        var sum: UInt = 0
        for _ in 0..<count { sum &+= try length(text) }
        subject_use(Int64(sum))
      },
      Benchmark("text/strlen-\(size)/call", over: hand) { count in
        var sum: UInt = 0
        for _ in 0..<count { sum &+= try functions.call("strlen", text, returning: UInt.self) }
        subject_use(Int64(sum))
      },
    ]
  }

  private static func results() throws -> [Benchmark] {
    let hand = "text/result/by-hand"
    let program = try Library("")
    let functions = FunctionTable()
    try unsafe functions.register("strerrorname_np", encoding: "*i", unsafeSymbolIn: program)
    let call = try unsafe unsafeBitCast(
      program.address(of: "strerrorname_np"),
      to: (@convention(c) (Int32) -> UnsafePointer<CChar>?).self)
    let name = try functions.function("strerrorname_np", as: ((Int32) -> String).self)
    return [
      Benchmark(hand) { count in
        var sum = 0
        for _ in 0..<count {
          sum += unsafe call(97).map { unsafe String(cString: $0).utf8.count } ?? 0
        }
        subject_use(Int64(sum))
      },
      Benchmark("text/result/typed", over: hand) { count in
        var sum = 0
        for _ in 0..<count { sum += try name(97).utf8.count }
        subject_use(Int64(sum))
      },
    ]
  }

  private static func messages(_ text: String) throws -> [Benchmark] {
    try unsafe MethodTable.of(NativeSubject.self).register(
      "length:", replacing: true, encoding: "Q@:*", unsafeFunction: subject_address(.length))
    let length = try Message<UInt, String>("length:")
    let target = NativeSubject()
    return [
      Benchmark("text/message/c-function", over: "text/strlen-15/by-hand") { count in
        var sum: UInt = 0
        for _ in 0..<count { sum &+= try length(text, on: target) }
        subject_use(Int64(sum))
      }
    ]
  }
}
