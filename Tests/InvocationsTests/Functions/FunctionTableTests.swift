// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Foundation
import ForwardingTestSupport
import Synchronization
import TypeEncodings
import Testing

@testable import Invocations

@Suite("Function tables")
struct FunctionTableTests {
  @Test("a C function by address, a symbol of a library and Swift closures can be called")
  func kinds() throws {
    let functions = FunctionTable()
    let average = Fixtures.named("f_average3")
    try functions.register("average", encoding: average.encoding, unsafeFunction: average.function)
    try functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
    try functions.register(
      "root", encoding: "dd", unsafeSymbolIn: Library("libm.so.6"), symbol: "sqrt")
    try functions.register("join") { (a: String, b: String) in a + b }
    try functions.register("add", encoding: "i24i0i4") { (a: Int32, b: Int32) in a + b }
    #expect(try functions.call("average", 1.0, 2.0, 6.0, returning: Double.self) == 3)
    #expect(try functions.call("pow", 2.0, 10.0, returning: Double.self) == 1024)
    #expect(try functions.call("root", 81.0, returning: Double.self) == 9)
    #expect(try functions.call("join", "one", "two", returning: String.self) == "onetwo")
    #expect(try functions.call("add", Int32(2), Int32(3), returning: Int32.self) == 5)
    #expect(functions.names == ["add", "average", "join", "pow", "root"])
    #expect(functions["join"]?.plan.signature.description == "***")
  }

  @Test("an invalid call is refused before it is made")
  func refusals() throws {
    let functions = FunctionTable()
    try functions.register(
      "never", encoding: "vid", unsafeFunction: Fixtures.named("f_fail").function)
    func unfit(_ reason: InvocationError) -> InvocationError {
      .unfitFunction(name: "never", reason: reason)
    }
    #expect(throws: unfit(.argumentCount(expected: 2, given: 1))) {
      try functions.call("never", Int32(1))
    }
    #expect(throws: unfit(.argumentCount(expected: 2, given: 3))) {
      try functions.call("never", Int32(1), 1.0, 1.0)
    }
    #expect(
      throws: unfit(
        .typeMismatch(index: 1, expected: encodingOf("d"), given: SwiftType(Float.self)))
    ) {
      try functions.call("never", Int32(1), Float(2))
    }
    let literal = #expect(throws: InvocationError.self) { try functions.call("never", 1, 1.0) }
    #expect(
      "\(literal!)"
        == "'never': argument 0 is Int32 (i), not Int (q); for a literal such as 5, write Int32(5)")
    #expect(throws: InvocationError.unknownFunction(name: "nevr", nearest: "never")) {
      try functions.call("nevr")
    }
    #expect(throws: InvocationError.unknownFunction(name: "nveer", nearest: "never")) {
      try functions.call("nveer")
    }
    #expect(throws: InvocationError.unknownFunction(name: "NEVER", nearest: "never")) {
      try functions.call("NEVER")
    }
    #expect(throws: InvocationError.unknownFunction(name: "something else", nearest: nil)) {
      try functions.call("something else")
    }
    #expect(throws: InvocationError.duplicateName("never")) {
      try functions.register("never") { () -> Void in }
    }
    #expect(functions.names == ["never"])
  }

  @Test("a missing library or symbol is a clear error")
  func missing() throws {
    #expect { try Library("/nowhere/libnone.so") } throws: { error in
      if case InvocationError.libraryNotFound(let path, let reason)? = error as? InvocationError {
        return path == "/nowhere/libnone.so" && reason.contains("libnone.so")
      }
      return false
    }
    let script = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).so")
    defer { try? FileManager.default.removeItem(at: script) }
    let text = String(repeating: "/* GNU ld script */ GROUP ( /lib/libm.so.6 )\n", count: 4)
    try text.write(to: script, atomically: true, encoding: .utf8)
    let linked = #expect(throws: InvocationError.self) { try Library(script.path) }
    #expect("\(linked!)".hasSuffix("it may be a linker script: add the version, as in 'libm.so.6'"))
    for path in ["libm.so.6\0", "\0"] {
      let reason = "the path contains a NUL"
      #expect(throws: InvocationError.libraryNotFound(path: path, reason: reason)) {
        try Library(path)
      }
    }
    let error = try #require(throws: InvocationError.self) {
      try Library("libm.so.6").address(of: "no_such_function")
    }
    guard case .symbolNotFound(["no_such_function"], "libm.so.6", let file?) = error else {
      throw error
    }
    #expect(FileManager.default.fileExists(atPath: file))
    #expect("\(error)" == "'libm.so.6' (\(file)) has no symbol 'no_such_function'")
    #expect(
      throws: InvocationError.symbolNotFound(symbols: ["x"], library: "the program", file: nil)
    ) {
      try Library("").address(of: "x")
    }
    #expect(throws: InvocationError.self) { try Library("libm.so.6").address(of: "pow\0x") }
  }

  /// A function that is not registered, and the reason in its error.
  private struct Unregistered: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let reason: String
    let register: @Sendable (FunctionTable) throws -> Void
  }

  private static let refused = [
    Unregistered(
      testDescription: "NULL as an address", reason: " the function pointer is NULL"
    ) { try $0.register("bad", encoding: "v", unsafeFunction: nil) },
    Unregistered(
      testDescription: "an invalid encoding of an address",
      reason: " the structure is not closed with '}'\nv@:{\n   ^"
    ) {
      try $0.register("bad", encoding: "v@:{", unsafeFunction: Fixtures.named("f_fail").function)
    },
    Unregistered(
      testDescription: "an invalid encoding of a symbol",
      reason: " 'v' (void) can only be a result, or what a pointer points to\nvv\n ^"
    ) { try $0.register("bad", encoding: "vv", unsafeSymbolIn: Library(""), symbol: "abs") },
    Unregistered(
      testDescription: "the names of types of C",
      reason: " an encoding has letters for types, not their names; 'int(int)' is 'ii'\nint(int)\n^"
    ) { try $0.register("bad", encoding: "int(int)", unsafeSymbolIn: Library(""), symbol: "abs") },
    Unregistered(
      testDescription: "a missing symbol", reason: " 'the program' has no symbol 'no_such_function'"
    ) {
      try $0.register("bad", encoding: "v", unsafeSymbolIn: Library(""), symbol: "no_such_function")
    },
    Unregistered(
      testDescription: "an argument that does not fit",
      reason: " argument 0 is Double (d), not Int32 (i)"
    ) { try $0.register("bad", encoding: "id") { (value: Int32) -> Int32 in value } },
    Unregistered(
      testDescription: "a result that does not fit",
      reason: " the result is Double (d), not Int32 (i)"
    ) { try $0.register("bad", encoding: "di") { (value: Int32) -> Int32 in value } },
    Unregistered(
      testDescription: "no result", reason: " the result is Double (d), not Void (v)"
    ) { try $0.register("bad", encoding: "di") { (_: Int32) -> Void in } },
  ]

  @Test("an error of registering names the function", arguments: refused)
  private func unregistered(_ row: Unregistered) throws {
    let functions = FunctionTable()
    let error = #expect(throws: InvocationError.self) { try row.register(functions) }
    #expect("\(error!)" == "'bad':" + row.reason)
    #expect(functions.names.isEmpty)
  }

  @Test("errno is returned with the result")
  func errnoCaptured() throws {
    let functions = FunctionTable()
    try functions.register("open", encoding: "i*i", unsafeSymbolIn: Library(""))
    let answer = try functions.callCapturingErrno(
      "open", "/nowhere/at all", Int32(0), returning: Int32.self)
    #expect(answer.result == -1)
    #expect(answer.errno == ENOENT)
  }
}
