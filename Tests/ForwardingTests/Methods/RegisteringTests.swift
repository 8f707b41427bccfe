// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing

private final class Purse: Sendable {
  let log: Log
  init(_ log: Log) { self.log = log }
  func put(_ amount: Int32, _ coin: String) { log.add("\(amount) \(coin)") }
  func total() -> Int32 { 42 }
  func burn() throws { throw Failure(name: "burnt") }
}

@Suite("Registration under names")
struct RegisteringTests {
  @Test("methods of a class are registered under their names")
  func references() throws {
    let table = MethodTable.of(Purse.self)
    try table.register("put:of:", Purse.put)
    try table.register("total", Purse.total)
    try table.register("burn", Purse.burn)
    let log = Log()
    let purse = Purse(log)
    try Message<NoResult, Int32, String>("put:of:")(5, "pence", on: purse)
    #expect(log.all == ["5 pence"])
    #expect(try Message<Int32>("total")(on: purse) == 42)
    #expect(throws: Failure(name: "burnt")) { try Message<NoResult>("burn")(on: purse) }
  }

  @Test("a name that is taken is refused everywhere, unless `replacing` is true")
  func taken() throws {
    class Taken {}
    let target = ClosureTarget()
    let functions = FunctionTable()
    let table = MethodTable.of(Taken.self)
    let registries: [(Bool) throws -> Void] = [
      { try target.register("go", replacing: $0) { () in } },
      { try functions.register("go", replacing: $0) { () in } },
      { try table.register("go", replacing: $0) { (_: Taken) in } },
    ]
    for register in registries {
      try register(false)
      #expect(throws: InvocationError.self) { try register(false) }
      try register(true)
    }
  }

  @Test("a second declaration of a selector in a class is refused as a wrong declaration")
  func declaredTwice() throws {
    final class Twice: MethodDeclaring {
      static func declareMethods(_ methods: MethodDeclarations) {
        methods.register("go") { (_: Twice) -> Int32 in 1 }
        methods.register("go") { (_: Twice) -> Int32 in 2 }
      }
    }
    #expect(try Message<Int32>("go")(on: Twice()) == 1)
    let refused = MethodTable.declarationErrors.filter { $0.type == SwiftType(Twice.self) }
    #expect(refused.map(\.cause) == [.duplicateName("-[Twice go]")])
  }

  @Test("a token and a scope do not retain their proxy")
  func scope() {
    var proxy: MulticastProxy? = MulticastProxy()
    weak let held = proxy
    let token = proxy?.add(ClosureTarget(), strongly: true)
    let scope = token?.scoped()
    proxy = nil
    #expect(held == nil)
    #expect(token?.remove() == false)
    withExtendedLifetime(scope) {}
  }

  @Test("one implementation can be registered in all four registries")
  func everywhere() throws {
    let answer = try Implementation { (_: Purse) -> Int32 in 42 }
    let functions = FunctionTable()
    try functions.register("answer", answer)
    #expect(throws: InvocationError.duplicateName("answer")) {
      try functions.register("answer", answer)
    }
    let call = try functions.invocation(of: "answer")
    let purse = Purse(Log())
    try call.setTarget(purse)
    try call.invoke(using: functions.function(named: "answer"))
    #expect(try call.result(as: Int32.self) == 42)
    let target = ClosureTarget()
    try target.register("number") { () -> Int32 in 1 }
    try target.register("answer") { () -> Int32 in 2 }
    #expect(target.selectors == ["answer", "number"])
  }
}
