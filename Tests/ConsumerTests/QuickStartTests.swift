// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Testing
import TypeEncodings

/// Written as a user would write it, with the imports that the pages ask for.
@Suite("Three imports are enough for invocations")
struct QuickStartTests {
  final class Calculator: CallObject {
    let name: String
    init(_ name: String) { self.name = name }
  }

  @Test("register, record, send to several")
  func quickStart() throws {
    // C and Swift functions, under their encodings.
    let functions = FunctionTable()
    try functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
    try functions.register("greet") { (name: String) in "hello, \(name)" }
    #expect(try functions.call("pow", 2.0, 10.0, returning: Double.self) == 1024)
    #expect(try functions.call("greet", "Linux", returning: String.self) == "hello, Linux")

    // A method, a call recorded once, and several targets.
    try MethodTable.of(Calculator.self).register("add:to:") {
      (calculator: Calculator, a: Int32, b: Int32) in Int32(calculator.name.count) + a + b
    }
    let call = try Invocation(MethodSignature("i@:ii"), selector: "add:to:")
    try call.setArgument(Int32(2), at: 2)
    try call.setArgument(Int32(3), at: 3)
    var results: [Int32] = []
    for target in [Calculator("a"), Calculator("bb")] {
      try call.invoke(on: target)
      results.append(try call.result())
    }
    #expect(results == [6, 7])

    // Mistakes are refused before the call.
    let error = #expect(throws: InvocationError.self) { try call.setArgument(2.5, at: 2) }
    #expect("\(error!)" == "argument 2 is Int32 (i), not Double (d)")
  }
}
