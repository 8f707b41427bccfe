// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Synchronization
import Testing

@Suite("Dynamic messages")
struct DynamicMessageTests {
  private final class Table: MethodDeclaring, @unchecked Sendable {
    var seen: [String] = []

    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("select") { (table: Table) in table.seen.append("select") }
      methods.register("select:") { (table: Table, row: Int) in table.seen.append("select \(row)") }
      methods.register("move:to:") { (table: Table, row: Int16, other: Double) -> Double in
        table.seen.append("move \(row) \(other)")
        return other
      }
      methods.register("select::") { (table: Table, row: Int, column: Int) in
        table.seen.append("select \(row) \(column)")
      }
      methods.register("name:") { (table: Table, text: String) in table.seen.append(text) }
      methods.register("mark:") { (table: Table, isMarked: Bool) in
        table.seen.append("\(isMarked)")
      }
    }
  }

  @Test("labels become the parts of the selector, in repeated calls as well", arguments: 0..<2)
  func spelling(targets: Int) throws {
    let tables = (0...targets).map { _ in Table() }
    let proxy = MulticastProxy()
    for table in tables { proxy.add(table) }
    for _ in 0..<2 {
      try proxy.dynamic.select()
      try proxy.dynamic.select(5)
      try proxy.dynamic.select(5, 6)
      #expect(try proxy.dynamic.move(7, to: 0.5).value(as: Double.self) == 0.5)
      try proxy.dynamic.name("text with é")
      try proxy.dynamic.mark(true)
    }
    let seen = ["select", "select 5", "select 5 6", "move 7 0.5", "text with é", "true"]
    #expect(tables.allSatisfy { $0.seen == seen + seen })
  }

  @Test("numbers are converted if no information is lost, and refused otherwise")
  func numbers() throws {
    let table = Table()
    let receiver = DynamicReceiver(table)
    try receiver.select(Int8(5))
    try receiver.select(5.0)
    try receiver.move(UInt64(7), to: 1)
    #expect(table.seen == ["select 5", "select 5", "move 7 1.0"])
    #expect(throws: InvocationError.self) { try receiver.select(5.5) }
    #expect(throws: InvocationError.self) { try receiver.move(70_000, to: 1) }
    #expect(throws: InvocationError.self) { try receiver.select("5") }
    #expect(throws: InvocationError.self) { try receiver.mark(2) }
  }

  @Test("a name that contains a colon gets no argument for it")
  func colons() throws {
    let receiver = DynamicReceiver(Table())
    #expect(throws: InvocationError.argumentCount(expected: 2, given: 1)) {
      try receiver[dynamicMember: "select:"].dynamicallyCall(withKeywordArguments: ["": 1])
    }
    #expect(throws: InvocationError.argumentCount(expected: 2, given: 0)) {
      try receiver[dynamicMember: "move:to:"].dynamicallyCall(withKeywordArguments: [:])
    }
  }

  @Test("the types are those of the current method")
  func changed() throws {
    final class Changing: Sendable {}
    let methods = MethodTable.of(Changing.self)
    let object = Changing()
    let proxy = MulticastProxy()
    proxy.add(object)
    try methods.register("value:") { (_: Changing, number: Int) in number + 1 }
    #expect(try proxy.dynamic.value(1).value(as: Int.self) == 2)
    methods.replace("value:", try Implementation { (_: Changing, number: Double) in number / 2 })
    #expect(try proxy.dynamic.value(1).value(as: Double.self) == 0.5)
    methods.remove("value:")
    #expect(throws: InvocationError.self) { try proxy.dynamic.value(1) }
    #expect(throws: InvocationError.self) { try DynamicReceiver(object).value(1) }
  }

  @Test("a name longer than any selector is refused, and is not interned")
  func tooLong() throws {
    let name = String(repeating: "long", count: 300)
    #expect(throws: InvocationError.self) { try DynamicReceiver(Table())[dynamicMember: name](1) }
    #expect(Selector(existing: name + ":") == nil)
    let longest = String(repeating: "x", count: Selector.maximumLength - 1)
    #expect(throws: InvocationError.self) {
      try DynamicReceiver(Table())[dynamicMember: longest](1)
    }
    #expect(Selector(existing: longest + ":") != nil)
  }
}

@Suite("Known answers, found without a lock")
struct KnownAnswerTests {
  private class Animal: @unchecked Sendable {}
  private final class Dog: Animal, @unchecked Sendable {}

  private final class Learner: MethodProviding, @unchecked Sendable {
    var learned: Implementation?
    func ownMethod(for selector: Selector) -> Implementation? {
      selector == "trick" ? learned : nil
    }
  }

  @Test("an answer follows changes in its class and its superclasses")
  func changes() throws {
    let dog = Dog()
    let bark: Selector = "barkLoudly"
    func isAnswered() throws -> Bool {
      // Asks again after a send, which caches the answer.
      let before = Introspection.responds(dog, to: bark)
      _ = try? Message<Int>(bark)(on: dog)
      #expect(Introspection.responds(dog, to: bark) == before)
      return before
    }
    #expect(try !isAnswered())
    try MethodTable.of(Animal.self).register(bark) { (_: Animal) in 1 }
    #expect(try isAnswered())
    MethodTable.of(Animal.self).remove(bark)
    #expect(try !isAnswered())
    try MethodTable.of(Dog.self).register(bark) { (_: Dog) in 2 }
    #expect(try isAnswered())
    MethodTable.of(Dog.self).remove(bark)
    #expect(try !isAnswered())
  }

  @Test("an object that provides methods of its own is asked each time")
  func providing() throws {
    let learner = Learner()
    for _ in 0..<2 {
      learner.learned = nil
      #expect(!Introspection.responds(learner, to: "trick"))
      #expect(Introspection.signature(of: learner, for: "trick") == nil)
      learner.learned = try Implementation { (_: Learner) in 3 }
      #expect(Introspection.responds(learner, to: "trick"))
      #expect(try Message<Int>("trick")(on: learner) == 3)
      #expect(Introspection.signature(of: learner, for: "trick")?.description == "q@:")
    }
  }

  @Test("a message of an adopted protocol has a signature, cached or not")
  func adopted() throws {
    final class Quiet: ForwardingProxy, @unchecked Sendable {}
    let quiet = Quiet()
    #expect(Introspection.signature(of: quiet, for: "whisper:") == nil)
    _ = try? Message<NoResult, Int32>("whisper:")(1, on: quiet)
    #expect(Introspection.signature(of: quiet, for: "whisper:") == nil)
    let talking = try ProtocolDescription("Talking", optional: ["whisper:": "v@:i"])
    MethodTable.of(Quiet.self).adopt(talking)
    #expect(Introspection.signature(of: quiet, for: "whisper:")?.description == "v@:i")
    #expect(!Introspection.responds(quiet, to: "whisper:"))
  }
}
