import Dispatch
import ForwardingTestSupport
import Testing

@testable import Forwarding

@Suite("Typed messages to many")
struct TypedSendTests {
  private static func proxy(_ names: [String]) throws -> MulticastProxy {
    let proxy = MulticastProxy()
    for name in names { proxy.add(Listener(name, Log()), strongly: true) }
    return proxy
  }

  @Test("all: the answers in order, and the first error if there is one")
  func all() throws {
    #expect(try Messages.value.all(on: Self.proxy(["1", "2", "3"])) == [1, 2, 3])
    #expect(throws: Failure(name: "1")) { try Messages.fail.all(on: Self.proxy(["1", "2"])) }
  }

  @Test("first: the first answer, or nil if nobody answers")
  func first() throws {
    #expect(try Messages.value.first(on: Self.proxy(["4", "5"])) == 4)
    #expect(try Messages.value.first(on: MulticastProxy()) == nil)
  }

  @Test("fold: the answers combined, as long as that goes on")
  func fold() throws {
    let proxy = try Self.proxy(["1", "2", "3"])
    let sum = try Messages.value.fold(on: proxy, into: Int32(0)) { sum, value in
      sum += value
      return value == 2 ? .stop : .next
    }
    #expect(sum == 3)
  }

  @Test("gather: an answer or an error of each that knows the message")
  func gather() throws {
    let proxy = try Self.proxy(["1"])
    let failing = ClosureTarget()
    try failing.register("value") { () throws -> Int32 in throw Failure(name: "late") }
    proxy.add(failing)
    proxy.add(ClosureTarget(), strongly: true)
    let gathered = try Messages.value.gather(on: proxy)
    #expect(gathered.count == 2)
    #expect(try gathered[0].get() == 1)
    #expect(throws: Failure(name: "late")) { try gathered[1].get() }
  }

  @Test("gather: a message without a result has one success for each that was told")
  func gatherNothing() throws {
    #expect(try did.gather(1, on: Self.proxy(["1", "2"])).count == 2)
  }

  @Test("deliver: a report of all")
  func deliver() throws {
    #expect(try did.deliver(1, on: Self.proxy(["1", "2"])).answered == 2)
  }
}

private protocol Watcher: AnyObject {
  func saw(_ number: Int) throws
}

private final class Witness: Watcher, Sendable {
  let log: Log
  let name: String
  init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }
  func saw(_ number: Int) throws {
    if name == "bad" { throw Failure(name: name) }
    log.add("\(name) \(number)")
  }
}

@Suite("Every target of a Swift type")
struct EachTests {
  let log = Log()
  let proxy = MulticastProxy()

  @Test("is visited in order and in its lane, and others are left out")
  func visits() throws {
    let queue = DispatchQueue(label: "visits")
    let (one, two) = (Witness("one", log), Witness("two", log))
    proxy.add(two)
    proxy.add(one, priority: 1)
    proxy.add(ClosureTarget(), strongly: true)
    let later = Witness("later", log)
    queue.suspend()
    proxy.add(later, on: .queue(queue))
    try proxy.each((any Watcher).self) { try $0.saw(1) }
    #expect(log.all == ["one 1", "two 1"])
    queue.resume()
    queue.sync {}
    #expect(log.all == ["one 1", "two 1", "later 1"])
    withExtendedLifetime((one, two, later)) {}
  }

  @Test("a body that throws for one is called for all; then the error is thrown")
  func throwing() throws {
    let (bad, good) = (Witness("bad", log), Witness("good", log))
    proxy.add(bad)
    proxy.add(good)
    #expect(throws: Failure(name: "bad")) {
      try proxy.each((any Watcher).self) { try $0.saw(2) }
    }
    #expect(log.all == ["good 2"])
  }

  @Test("a registration for one message is used up by a visit, and not by one of another type")
  func once() throws {
    let witness = Witness("once", log)
    proxy.add(witness, once: true)
    proxy.each(Listener.self) { _ in }
    #expect(proxy.count == 1)
    for _ in 0..<2 { try proxy.each((any Watcher).self) { try $0.saw(3) } }
    #expect(log.all == ["once 3"])
  }
}

private final class Purse: Sendable {
  let log: Log
  init(_ log: Log) { self.log = log }
  func put(_ amount: Int32, _ coin: String) { log.add("\(amount) \(coin)") }
  func total() -> Int32 { 42 }
  func burn() throws { throw Failure(name: "burnt") }
}

@Suite("Registering, with one vocabulary")
struct RegisteringTests {
  @Test("methods of a class are registered by their names")
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

  @Test("a name that is taken is refused everywhere, unless it is to be replaced")
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

  @Test("a class that declares a selector twice has it refused, as a wrong declaration")
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

  @Test("a scope does not keep its proxy")
  func scope() {
    var proxy: MulticastProxy? = MulticastProxy()
    weak let held = proxy
    let scope = proxy?.scoped(ClosureTarget(), strongly: true)
    proxy = nil
    #expect(held == nil)
    scope?.release()
  }

  @Test("a proxy may throw for every message that nobody answers")
  func nobody() {
    let proxy = MulticastProxy()
    proxy.whenNobodyAnswers = .throw
    #expect(throws: ForwardingError.nobodyAnswered("did:")) { try did(1, on: proxy) }
  }

  @Test("an `instead` handler sends the message on without knowing the proxy, which it would keep")
  func proceeding() throws {
    let target = Listener("7", Log())
    weak var held: InterceptingProxy?
    do {
      let proxy = InterceptingProxy(target)
      held = proxy
      proxy.instead(of: "value") { call, proceed in
        try proceed()
        try call.setResult(call.result(as: Int32.self) + 1)
      }
      #expect(try Messages.value(on: proxy) == 8)
    }
    #expect(held == nil)
  }
}
