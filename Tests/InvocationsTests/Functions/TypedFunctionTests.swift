// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Foundation
import ForwardingTestSupport
import TypeEncodings
import Testing

@testable import Invocations

@Suite("Typed functions")
struct TypedFunctionTests {
  private struct Letter: Equatable {
    var text: String
    var pages: [Int]
  }

  private final class Parcel: CallObject, Sendable {
    private let onEnd: @Sendable () -> Void
    init(_ onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }
    deinit { onEnd() }
  }

  @Test("C functions of numbers, addresses and text are called as Swift functions")
  func native() throws {
    let functions = FunctionTable()
    for (name, encoding) in [
      ("pow", "ddd"), ("sqrt", "dd"), ("fma", "dddd"), ("ldexp", "ddi"), ("sqrtf", "ff"),
      ("labs", "qq"), ("abs", "ii"), ("memcmp", "i^v^vQ"), ("strlen", "Q*"), ("getpid", "i"),
    ] {
      try functions.register(name, encoding: encoding, unsafeSymbolIn: Library(""))
    }
    let pow = try functions.function("pow", as: ((Double, Double) -> Double).self)
    #expect(try pow(2, 10) == 1024)
    let root = try functions.function("sqrt", as: ((Double) -> Double).self)
    #expect(try root(81) == 9)
    let fma = try functions.function("fma", as: ((Double, Double, Double) -> Double).self)
    #expect(try fma(2, 3, 4) == 10)
    let scale = try functions.function("ldexp", as: ((Double, Int32) -> Double).self)
    #expect(try scale(0.5, -1) == 0.25)
    let small = try functions.function("sqrtf", as: ((Float) -> Float).self)
    #expect(try small(81) == 9)
    let labs = try functions.function("labs", as: ((Int) -> Int).self)
    #expect(try labs(-5) == 5)
    let abs = try functions.function("abs", as: ((Int32) -> Int32).self)
    #expect(try abs(-7) == 7)
    let compare = try functions.function(
      "memcmp", as: ((UnsafeRawPointer, UnsafeRawPointer, UInt) -> Int32).self)
    let order = try withUnsafeBytes(of: (1, 2)) {
      try compare($0.baseAddress!, $0.baseAddress! + 8, 8)
    }
    #expect(order < 0)
    let length = try functions.function("strlen", as: ((String) -> UInt).self)
    #expect(try length("seven, and é") == 13)
    let process = try functions.function("getpid", as: (() -> Int32).self)
    #expect(try process() == getpid())
  }

  @Test("values of every kind are passed to a closure and returned")
  func closures() throws {
    let functions = FunctionTable()
    func echoes<Value: Equatable & SendableMetatype>(_ value: Value) throws {
      try functions.register("echo", replacing: true) { (value: Value) -> Value in value }
      let echo = try functions.function("echo", as: ((Value) -> Value).self)
      #expect(try echo(value) == value)
      #expect(try functions.call("echo", value, returning: Value.self) == value)
    }
    try echoes(Int8.min); try echoes(UInt16.max); try echoes(Int32.min); try echoes(UInt64.max)
    try echoes(true); try echoes(Float.pi); try echoes(-Double.infinity);
    try echoes(LongDouble(0.1))
    try echoes(Int128.min); try echoes(ComplexValue<Double>(0.5, 3)); try echoes("text with é")
    try echoes(nil as String?); try echoes("some" as String?); try echoes(Selector("a:b:"))
    try echoes(UnsafeRawPointer(bitPattern: 0x10)); try echoes(FixturePoint(x: 1, y: 2))
    try echoes(Letter(text: "hello", pages: [1, 2])); try echoes([1: "one"]); try echoes(5 as Int?)
    try functions.register("join") { (a: String, b: Int, c: Double) in "\(a) \(b) \(c)" }
    let join = try functions.function("join", as: ((String, Int, Double) -> String).self)
    #expect(try join("one", 2, 3) == "one 2 3.0")
  }

  @Test("the types are compared when a function is looked up")
  func types() throws {
    let functions = FunctionTable()
    try functions.register("add") { (a: Int32, b: Int32) in a + b }
    func unfit(_ reason: InvocationError) -> InvocationError {
      .unfitFunction(name: "add", reason: reason)
    }
    #expect(throws: unfit(.argumentCount(expected: 2, given: 1))) {
      try functions.function("add", as: ((Int32) -> Int32).self)
    }
    #expect(
      throws: unfit(
        .typeMismatch(index: 1, expected: encodingOf("i"), given: SwiftType(Int.self)))
    ) { try functions.function("add", as: ((Int32, Int) -> Int32).self) }
    #expect(
      throws: unfit(
        .typeMismatch(index: nil, expected: encodingOf("i"), given: SwiftType(Double.self)))
    ) { try functions.function("add", as: ((Int32, Int32) -> Double).self) }
    #expect(throws: InvocationError.unknownFunction(name: "adds", nearest: "add")) {
      try functions.function("adds", as: ((Int32, Int32) -> Int32).self)
    }
  }

  @Test("the error of a closure is thrown to the caller")
  func throwing() throws {
    struct Refusal: Error {}
    let functions = FunctionTable()
    try functions.register("no") { (_: Int) throws -> Int32 in throw Refusal() }
    let no = try functions.function("no", as: ((Int) -> Int32).self)
    #expect(throws: Refusal.self) { try no(1) }
  }

  @Test("a typed function stays the same when the table's function is replaced or removed")
  func replaced() throws {
    let functions = FunctionTable()
    try functions.register("next") { (number: Int) in number + 1 }
    let next = try functions.function("next", as: ((Int) -> Int).self)
    try functions.register("next", replacing: true) { (number: Int) in number + 2 }
    #expect(try next(1) == 2)
    #expect(try functions.call("next", 1, returning: Int.self) == 3)
    functions.unregister("next")
    #expect(try next(1) == 2)
    #expect(next.name == "next")
    // Equal spellings share a plan, so the signature may be "ll", too.
    #expect(try next.signature == MethodSignature("qq"))
  }

  @Test(
    "a library is open as long as one of its functions is registered, or a typed one is there")
  func library() throws {
    let functions = FunctionTable()
    weak var library: Library?
    do {
      let opened = try Library("libm.so.6")
      library = opened
      try functions.register("cos", encoding: "dd", unsafeSymbolIn: opened)
    }
    #expect(library != nil)
    #expect(try functions.call("cos", 0.0, returning: Double.self) == 1)
    do {
      let cos = try functions.function("cos", as: ((Double) -> Double).self)
      functions.unregister("cos")
      #expect(library != nil)
      #expect(try cos(0) == 1)
    }
    #expect(library == nil)
  }

  @Test("objects are passed and returned, and a discarded object result is released")
  func objects() throws {
    let functions = FunctionTable()
    let ends = LockedValue(0)
    try functions.register("wrap") { () -> Parcel in Parcel { ends.withLock { $0 += 1 } } }
    try functions.register("same") { (parcel: Parcel) -> Parcel in parcel }
    let wrap = try functions.function("wrap", as: (() -> Parcel).self)
    let same = try functions.function("same", as: ((Parcel) -> Parcel).self)
    do {
      let parcel = try wrap()
      #expect(try same(parcel) === parcel)
      #expect(try functions.call("same", parcel, returning: Parcel.self) === parcel)
      #expect(ends.withLock { $0 } == 0)
    }
    #expect(ends.withLock { $0 } == 1)
    try functions.call("wrap")
    #expect(ends.withLock { $0 } == 2)
    try wrap()
    #expect(ends.withLock { $0 } == 3)
  }

  @Test("variadic arguments get C's promotions")
  func variadic() throws {
    let functions = FunctionTable()
    try functions.register(
      "snprintf", encoding: "i^vQ*fsi", unsafeSymbolIn: Library(""), fixedArgumentCount: 3)
    let print = try functions.function(
      "snprintf",
      as: ((UnsafeMutableRawPointer, UInt, String, Float, Int16, Int32) -> Int32).self)
    let text = try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { room in
      let count = try print(room.baseAddress!, 64, "%.1f %d %d", 1.5, -2, 3)
      return String(decoding: UnsafeRawBufferPointer(room).prefix(Int(count)), as: UTF8.self)
    }
    #expect(text == "1.5 -2 3")
  }

  @Test("a name can be called with more sets of types than it caches")
  func manyTypes() throws {
    let functions = FunctionTable()
    try functions.register("isNull") { (pointer: UnsafeRawPointer?) in pointer == nil }
    let none = 0 as UInt
    func check<Pointer: CallValue>(_ pointer: Pointer) throws {
      for _ in 0..<2 { #expect(try functions.call("isNull", pointer, returning: Bool.self)) }
    }
    try check(UnsafeRawPointer(bitPattern: none))
    try check(UnsafeMutableRawPointer(bitPattern: none))
    try check(UnsafePointer<Int>(bitPattern: none))
    try check(UnsafePointer<CChar>(bitPattern: none))
    try check(UnsafeMutablePointer<Int>(bitPattern: none))
    try check(OpaquePointer(bitPattern: none))
    try functions.call("isNull", OpaquePointer(bitPattern: none))
  }
}
