// SPDX-License-Identifier: Apache-2.0
import Forwarding
import InvocationText
import Invocations
import Testing
import TypeEncodings

@Suite("Results as JSON, and calls of functions")
struct ResultJSONTests {
  static let results: [(String, String)] = [
    ("i", "-7"), ("Q", "18446744073709551615"), ("d", "\"nan\""), ("B", "false"),
    ("*", "\"a \\\"word\\\"\""), ("*", "null"), ("@", "null"), ("^v", "null"), ("jf", "[1,-0.5]"),
    ("{S=i{T=dC}}", "[1,[2.5,3]]"), ("v", "null"),
    ("{e=}", "[]"), ("{s={e=}[2{e=}]}", "[[],[[],[]]]"),
  ]

  @Test("a result that was set is read back as the same JSON", arguments: results)
  func roundTrip(encoding: String, text: String) throws {
    let call = try Invocation(parsing: encoding)
    try call.setResult(json: text)
    #expect(try call.resultJSON == text)
  }

  static let refused: [(String, String, String)] = [
    ("v", "7", "7 does not fit Void (v): only null is expected"),
    ("i", "", "a JSON value is missing"), ("i", "[7", "',' or ']' is expected here"),
    (
      "i", "7.5",
      "7.5 does not fit Int32 (i): an integer from -2147483648 to 2147483647 is expected"
    ),
    ("*", "\"\\u0000\"", "text for String (*) cannot contain a NUL, where C would end it"),
    ("^i", "[7]", "nothing would keep the memory of a result of type a pointer (^i); write null"),
    (
      "^i", "0x1000", "nothing would keep the memory of a result of type a pointer (^i); write null"
    ),
    (
      "{S=*}", "[\"text\"]",
      "nothing would keep the memory of a result of type String (*); write null"
    ),
  ]

  @Test(
    "a text that does not fit the result is refused, and the earlier result stays",
    arguments: refused)
  func refusals(encoding: String, text: String, reason: String) throws {
    let call = try Invocation(parsing: encoding)
    let error = #expect(throws: InvocationTextError.self) { try call.setResult(json: text) }
    #expect("\(try #require(error).reason)" == reason)
  }

  @Test("there is no result before a call")
  func missing() throws {
    let error = #expect(throws: InvocationTextError.self) {
      try Invocation(parsing: "i").resultJSON
    }
    #expect(error?.reason == .refused(.resultNotAvailable))
  }

  @Test("an empty result is missing before a call, as any other is")
  func missingEmpty() throws {
    let call = try Invocation(parsing: "{e=}")
    let error = #expect(throws: InvocationTextError.self) { try call.resultJSON }
    #expect(error?.reason == .refused(.resultNotAvailable))
    #expect(try Invocation(parsing: "v").resultJSON == "null")
  }

  @Test("a method can set its result from JSON")
  func method() throws {
    let answers = ClosureTarget()
    try answers.register(
      "sum:",
      Implementation(MethodSignature(method: "d@:{_Point=dd}")) { call in
        #expect(try call.argumentsJSON == "[[0.5,1]]")
        try call.setResult(json: "1.5")
      })
    let call = try Invocation(MethodSignature("d@:{_Point=dd}"), selector: "sum:")
    try call.setArguments(json: "[[0.5, 1]]")
    try call.invoke(on: answers)
    #expect(try call.resultJSON == "1.5")
  }

  @Test("setting arguments discards a result that may lie in the old ones")
  func forgotten() throws {
    let functions = FunctionTable()
    try unsafe functions.register("strchr", encoding: "**i", unsafeSymbolIn: Library(""))
    let call = try functions.invocation(of: "strchr")
    try call.setArguments(json: "[\"forward\", 119]")
    try call.invoke(using: functions.function(named: "strchr"))
    #expect(try call.resultJSON == "\"ward\"")
    try call.setArguments(json: "[\"other\", 0]")
    #expect(throws: InvocationTextError.self) { try call.resultJSON }
  }

  private func functions() throws -> FunctionTable {
    let functions = FunctionTable()
    let math = try Library("libm.so.6")
    try unsafe functions.register("pow", encoding: "ddd", unsafeSymbolIn: math)
    try unsafe functions.register("frexp", encoding: "dd^i", unsafeSymbolIn: math)
    try unsafe functions.register(
      "snprintf", encoding: "i^vQ*if", unsafeSymbolIn: Library(""), fixedArgumentCount: 3)
    return functions
  }

  @Test("a function is called by its name")
  func call() throws {
    #expect(try functions().call("pow", json: "[2,10]") == "1024")
    #expect(throws: InvocationError.unknownFunction(name: "powr", nearest: "pow")) {
      try functions().call("powr", json: "[2,10]")
    }
    #expect(throws: InvocationTextError.self) { try functions().call("pow", json: "[2]") }
  }

  @Test("a variadic function gets promoted arguments, as in C")
  func variadic() throws {
    let text = "[null, 0, \"%d %.2f\", 42, 2.5]"
    #expect(try functions().call("snprintf", json: text) == "7")
  }

  @Test("a variadic float is rounded to a float before it is promoted")
  func variadicFloat() throws {
    let functions = try functions()
    let call = try functions.invocation(of: "snprintf")
    try call.setArguments(json: "[null, 0, \"%d %.2f\", 42, 0.1]")
    #expect(try call.argument(at: 4, as: Double.self) == Double(Float(0.1)))
    #expect(try call.argumentsJSON == "[null,0,\"%d %.2f\",42,0.1]")
    try call.setArguments(json: "[null, 0, \"%d %.2f\", 42, \"-inf\"]")
    #expect(try call.argument(at: 4, as: Double.self) == -.infinity)
  }

  @Test("memory behind a pointer exists for the call, and is shown after it")
  func pointers() throws {
    let functions = try functions()
    #expect(throws: InvocationTextError.self) { try functions.call("frexp", json: "[8,[0]]") }
    #expect(try unsafe functions.call("frexp", unsafeJSON: "[8,[0]]") == "0.5")
    let call = try functions.invocation(of: "frexp")
    #expect(throws: InvocationTextError.self) { try unsafe call.setArguments(unsafeJSON: "[8]") }
    #expect(throws: InvocationTextError.self) {
      try unsafe functions.call("frexp", unsafeJSON: "[8]")
    }
    try unsafe call.setArguments(unsafeJSON: "[8,[0]]")
    try call.invoke(using: functions.function(named: "frexp"))
    #expect(try call.argumentsJSON == "[8,[4]]")
  }

  @Test("an error of a Swift function is the error of the call")
  func thrown() throws {
    struct Refused: Error {}
    let functions = FunctionTable()
    try functions.register("refuse") { (_: Int32) -> Int32 in throw Refused() }
    #expect(throws: Refused.self) { try functions.call("refuse", json: "[1]") }
  }
}
