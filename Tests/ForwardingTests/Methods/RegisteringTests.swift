// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Invocations
import Testing
@testable import Forwarding

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

  @Test("a message without a result reaches a method that has one, of C types as well")
  func dropped() throws {
    final class Till: Sendable {
      let sum = LockedValue(0)
      func add(_ amount: Int32) -> Int32 {
        sum.withLock { $0 += Int(amount) }
        return amount
      }
      func note(_ text: String) -> [String] { [text] }
    }
    let (till, alone) = (Till(), ClosureTarget())
    try MethodTable.of(Till.self).register("add:", Till.add)
    try MethodTable.of(Till.self).register("note:", Till.note)
    try alone.register("add:") { [till] (amount: Int32) -> Int32 in till.add(amount) }
    for target in [till, alone] as [AnyObject] {
      try Message<NoResult, Int32>("add:")(20, on: target)
    }
    try Message<NoResult, String>("note:")("x", on: till)
    let (proxy, queue) = (MulticastProxy(), DispatchQueue(label: "till"))
    proxy.add(till, on: .queue(queue))
    try Message<NoResult, Int32>("add:")(2, on: proxy)
    queue.sync {}
    #expect(till.sum.withLock { $0 } == 42)
    #expect(throws: InvocationError.self) { try Message<Double, Int32>("add:")(1, on: till) }
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

  @Test("an `instead` handler sends the message on without a reference to the proxy")
  func proceeding() throws {
    let target = Listener("7", Log())
    weak var held: InterceptingProxy?
    do {
      let proxy = InterceptingProxy(target)
      held = proxy
      proxy.around("value") { call, proceed in
        try proceed()
        try call.setResult(call.result(as: Int32.self) + 1)
      }
      #expect(try Messages.value(on: proxy) == 8)
    }
    #expect(held == nil)
  }
}
