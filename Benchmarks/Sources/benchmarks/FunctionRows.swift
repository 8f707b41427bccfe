// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Foundation
import Invocations
import PeerC

/// C functions that are called by name.
enum FunctionRows {
  static func all() throws -> [Benchmark] { try powers() + texts() }

  /// A table with a hundred other functions, as in a real program: any table finds one of three at
  /// once.
  private static func table() throws -> FunctionTable {
    let functions = FunctionTable()
    let program = try Library("")
    try unsafe functions.register("pow", encoding: "ddd", unsafeSymbolIn: program)
    try unsafe functions.register("strlen", encoding: "Q*", unsafeSymbolIn: program)
    for index in 0..<100 { try functions.register("other\(index)") { index } }
    return functions
  }

  private static func powers() throws -> [Benchmark] {
    let functions = try table()
    let pow = try functions.function("pow", as: ((Double, Double) -> Double).self)
    return [
      Benchmark("ffi/call", "`pow` by libffi's `ffi_call`", over: BenchRows.property) {
        peer_ffi_call($0)
      },
      Benchmark("pow/by-name", "`pow` by name", over: "ffi/call") { count in
        for index in 0..<count {
          _ = try functions.call("pow", 1.5, Double(index & 15), returning: Double.self)
        }
      },
      Benchmark("pow/looked-up", "`pow`, looked up once", over: "ffi/call") { count in
        for index in 0..<count { _ = try pow(1.5, Double(index & 15)) }
      },
    ]
  }

  private static func texts() throws -> [Benchmark] {
    let functions = try table()
    let text = String(repeating: "x", count: 15)
    let length = try functions.function("strlen", as: ((String) -> UInt).self)
    let strlen = try unsafe unsafeBitCast(
      Library("").address(of: "strlen"), to: (@convention(c) (UnsafePointer<CChar>) -> UInt).self)
    return [
      Benchmark("text/pointer", "text of 15 bytes to C's `strlen` through its pointer") { count in
        for _ in 0..<count { _ = unsafe text.withCString { unsafe strlen($0) } }
      },
      Benchmark("text/by-name", "the same text to `strlen` by name", over: "text/pointer") {
        count in
        for _ in 0..<count { _ = try functions.call("strlen", text, returning: UInt.self) }
      },
      Benchmark("text/looked-up", "the same text to `strlen`, looked up once", over: "text/pointer")
      { count in for _ in 0..<count { _ = try length(text) } },
    ]
  }
}
