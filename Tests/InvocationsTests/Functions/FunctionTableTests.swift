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

  @Test("values of C-only types are passed as bytes: complex, unions, 128 bits, long double")
  func nativeTypes() throws {
    let functions = FunctionTable()
    for name in ["m_conjugate", "m_wide", "m_long_doubles"] {
      let fixture = Fixtures.named(name)
      try functions.register(name, encoding: fixture.encoding, unsafeFunction: fixture.function)
    }
    let none = nil as UnsafeRawPointer?
    _ = none
    let call = try functions.invocation(of: "m_conjugate")
    try call.setArgument(ComplexValue<Double>(1, 2), at: 2)
    try call.invoke(using: functions.function(named: "m_conjugate"))
    #expect(try call.result(as: ComplexValue<Double>.self) == ComplexValue(1, -2))
    let wide = try functions.invocation(of: "m_wide")
    try wide.setArgument(Int128.max, at: 2)
    try wide.invoke(using: functions.function(named: "m_wide"))
    #expect(try wide.result(as: Int128.self) == -Int128.max)
    let long = try functions.invocation(of: "m_long_doubles")
    for index in 0..<3 {
      try long.setArgument(Int8(index + 1), at: 2 + 2 * index)
      try long.setArgument(LongDouble(index) + 0.5, at: 3 + 2 * index)
    }
    try long.invoke(using: functions.function(named: "m_long_doubles"))
    #expect(try long.result(as: LongDouble.self) == 0.5 + 3 + 7.5)
  }

  @Test("an invalid call is refused before it is made")
  func refusals() throws {
    let functions = FunctionTable()
    try functions.register(
      "never", encoding: "vid", unsafeFunction: Fixtures.named("f_fail").function)
    #expect(throws: InvocationError.argumentCount(expected: 2, given: 1)) {
      try functions.call("never", Int32(1))
    }
    #expect(throws: InvocationError.argumentCount(expected: 2, given: 3)) {
      try functions.call("never", Int32(1), 1.0, 1.0)
    }
    #expect(
      throws: InvocationError.argumentMismatch(
        index: 1, expected: encodingOf("d"), given: SwiftType(Float.self))
    ) {
      try functions.call("never", Int32(1), Float(2))
    }
    #expect(throws: InvocationError.unknownFunction(name: "nevr", nearest: "never")) {
      try functions.call("nevr")
    }
    #expect(throws: InvocationError.unknownFunction(name: "something else", nearest: nil)) {
      try functions.call("something else")
    }
    #expect(throws: InvocationError.nullFunction) {
      try functions.register("null", encoding: "v", unsafeFunction: nil)
    }
    #expect(throws: InvocationError.duplicateName("never")) {
      try functions.register("never") { () -> Void in }
    }
    #expect(throws: InvocationError.self) {
      try functions.register(
        "bad", encoding: "v@:{", unsafeFunction: Fixtures.named("f_fail").function)
    }
    #expect(
      throws: InvocationError.argumentMismatch(
        index: 0, expected: encodingOf("d"), given: SwiftType(Int32.self))
    ) {
      try functions.register("types", encoding: "id") { (value: Int32) -> Int32 in value }
    }
    #expect(
      throws: InvocationError.resultMismatch(
        expected: encodingOf("d"), given: SwiftType(Int32.self))
    ) {
      try functions.register("types", encoding: "di") { (value: Int32) -> Int32 in value }
    }
    #expect(
      throws: InvocationError.resultMismatch(
        expected: encodingOf("d"), given: SwiftType(NoResult.self))
    ) {
      try functions.register("types", encoding: "di") { (_: Int32) -> Void in }
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
    #expect(
      throws: InvocationError.symbolNotFound(symbol: "no_such_function", library: "libm.so.6")
    ) {
      try FunctionTable().register(
        "x", encoding: "v", unsafeSymbolIn: Library("libm.so.6"), symbol: "no_such_function")
    }
    #expect(throws: InvocationError.self) { try Library("libm.so.6").address(of: "pow\0x") }
  }

  @Test("a library stays open as long as one of its functions is registered")
  func libraryLifetime() throws {
    let functions = FunctionTable()
    weak var library: Library?
    do {
      let opened = try Library("libm.so.6")
      library = opened
      try functions.register("cos", encoding: "dd", unsafeSymbolIn: opened)
    }
    #expect(library != nil)
    #expect(try functions.call("cos", 0.0, returning: Double.self) == 1)
    functions.unregister("cos")
    #expect(library == nil)
    #expect(throws: InvocationError.self) { try functions.call("cos", 0.0) }
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
