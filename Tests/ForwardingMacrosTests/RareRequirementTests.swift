// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import Foundation
  import ProxyProtocols
  import Synchronization
  import Testing

  /// A type of the program with the name of a lent type of Swift's, which has type arguments.
  final class Span: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
  }

  // These tests are built with warnings as errors: the code of the proxy has none.
  @Forwardable
  private protocol Buttons {
    var onTap: (() -> Int)? { get set }
    @Otherwise({ 0 }) var onHold: () -> Int { get set }
    subscript(newValue: Int) -> String? { get set }
    func visit(_ body: ((Int) -> Void))
    func lend(_ list: borrowing [Int]) async
    @available(*, deprecated, message: "call 'keep'") mutating func store(_ number: Int)
    @available(*, deprecated) @Otherwise(0) var age: Int { get set }
    mutating func keep(_ values: consuming [Int], from name: borrowing String)
    func count(_ values: consuming [Int]) async throws -> Int
    @Otherwise(0) func end(_ span: Span) -> Int
    @Otherwise([] as [Int]) var stored: [Int] { get }
  }

  private struct Panel: Buttons {
    var onTap: (() -> Int)?
    var onHold: () -> Int = { 1 }
    var names: [Int: String] = [:]
    var age = 1
    var stored: [Int] = []
    subscript(newValue: Int) -> String? {
      get { names[newValue] }
      set(name) { names[newValue] = name }
    }
    func visit(_ body: ((Int) -> Void)) { body(7) }
    func lend(_ list: borrowing [Int]) async { #expect(list.count == 2) }
    mutating func store(_ number: Int) { stored.append(number) }
    mutating func keep(_ values: consuming [Int], from name: borrowing String) {
      values.append(name.count)
      stored += values
    }
    func count(_ values: consuming [Int]) async throws -> Int { values.count }
    func end(_ span: Span) -> Int { span.name.count }
  }

  @Suite("Rare requirements")
  struct RareRequirementTests {
    private let panels = Multicast<ButtonsProxy>()

    init() { for _ in 0..<2 { panels.add(Panel()) } }

    @Test("they reach each target")
    func called() async throws {
      var proxy: any Buttons = panels.proxy
      proxy.onTap = { 5 }
      #expect(proxy.onTap?() == 5)
      proxy.onHold = { 6 }
      #expect(proxy.onHold() == 6)
      proxy[4] = "four"
      #expect(proxy[4] == "four")
      var seen = 0
      proxy.visit { seen += $0 }
      #expect(seen == 14)
      await proxy.lend([1, 2])
      #expect(proxy.end(Span("three")) == 5)
      #expect(try await proxy.count([4, 5, 6]) == 3)
      // Each target gets a consumed argument as the sender gave it.
      proxy.keep([1, 2], from: "sender")
      #expect(panels.targets.map(\.stored) == [[1, 2, 6], [1, 2, 6]])
    }

    @Test("they are messages, also if they are deprecated")
    func messages() throws {
      #expect(try panels.messages.end.all(Span("four")) == [4, 4])
      #expect(try panels.messages.setOnHold.report({ 10 }).answered == 2)
      #expect(panels.proxy.onHold() == 10)
      _ = try panels.messages.store.report(7)
      _ = try panels.messages.setAge.report(30)
      #expect(panels.targets.map(\.stored) == [[7], [7]])
      #expect(try panels.messages.age.all() == [30, 30])
    }
  }

  private final class Bench: Tool, Sendable {
    let heard = Mutex<[String]>([])
    private func hear(_ text: String) { heard.withLock { $0.append(text) } }
    func count<Value: Equatable>(_ values: [Value], of value: Value) -> Int {
      values.count { $0 == value }
    }
    func visit(_ body: (Int) -> Void) { body(7) }
    func log(_ text: @autoclosure () -> String) { hear(text()) }
    func map(_ transform: (Int) throws -> Int) rethrows -> Int? { try transform(3) }
    func note<each Value: Sendable>(_ values: repeat each Value) {
      for value in repeat each values { hear("\(value)") }
    }
    func measure(_ one: some Sequence<Int> & Sendable, into sum: inout Int) async throws {
      for number in one { sum += number }
      if sum > 100 { throw CancellationError() }
    }
    func close() { hear("close") }
  }

  @Suite("Requirements that cannot be messages")
  struct DirectRequirementTests {
    let tools = Multicast<ToolProxy>()
    private let one = Bench()
    private let other = Bench()

    private func proxy() -> any Tool {
      tools.add(one)
      tools.add(other)
      return tools.proxy
    }

    @Test("each target is called with the types, the closures and the variables of the caller")
    func called() async throws {
      struct Refused: Error {}
      let proxy = proxy()
      #expect(proxy.count([1, 2, 1], of: 1) == 2)
      #expect(proxy.count(["a"], of: "a") == 1)
      #expect(tools.proxy.count([1], of: 1) == 1)
      var sum = 0
      proxy.visit { sum += $0 }
      #expect(sum == 14)
      var made = 0
      func text() -> String {
        made += 1
        return "text"
      }
      proxy.log(text())
      #expect(made == 2)
      proxy.note(1, "two", 3.0)
      for bench in [one, other] {
        #expect(bench.heard.withLock { $0 } == ["text", "1", "two", "3.0"])
      }
      // The error of the closure is thrown, and no other.
      #expect(proxy.map { $0 * 2 } == 6)
      #expect(throws: Refused.self) { try proxy.map { _ in throw Refused() } }
      // Targets are awaited one after the other.
      sum = 0
      try await proxy.measure([1, 2], into: &sum)
      #expect(sum == 6)
      await #expect(throws: CancellationError.self) {
        var sum = 99
        try await proxy.measure([1, 2], into: &sum)
      }
    }

    /// Ways to have targets of which none can get a requirement with a closure.
    enum Unreachable: CaseIterable { case onQueue, intercepted, nested, untyped, gone }

    @Test(
      "what the delivery itself fails with is not thrown where no closure throws",
      arguments: Unreachable.allCases)
    func notPassing(way: Unreachable) {
      let single = SingleTarget<ToolProxy>()
      let inner = MulticastProxy()
      var proxy: any Tool = tools.proxy
      switch way {
      case .onQueue: tools.add(one, on: .queue(DispatchQueue(label: "tools")))
      case .intercepted: proxy = Intercepting<ToolProxy>(one).proxy
      case .nested: tools.add(Intercepting<ToolProxy>(one).proxy, strongly: true)
      case .untyped: tools.untyped.add(inner)
      case .gone: proxy = single.proxy
      }
      #expect(proxy.map { $0 + 1 } == nil)
      #expect(proxy.count([1], of: 1) == 0)
      proxy.visit { _ in Issue.record("a target has the closure") }
      var hasEnded = false
      func later() throws {
        _ = proxy.map { $0 + 1 }
        if proxy.map({ $0 }) != nil { throw CancellationError() }
        hasEnded = true
      }
      #expect(throws: Never.self) { try later() }
      #expect(hasEnded)
    }

    @Test(
      "the error of a target with a lane says why; a proxy that keeps messages sends the others")
    func refused() {
      let told = Story()
      told.listen(to: tools.untyped)
      tools.add(one, on: .queue(DispatchQueue(label: "lane")))
      tools.proxy.visit { _ in Issue.record("a lane has the closure") }
      let lines = told.take()
      #expect(lines.count == 1)
      #expect(
        lines[0].contains(
          "'visit(_:)' of Bench on queue 'lane' cannot be a message, because a closure is not '@escaping'; "
        ))
      Intercepting<ToolProxy>(other).proxy.close()
      #expect(other.heard.withLock { $0 } == ["close"])
    }
  }

  private final class Someone: Identified {
    var calls = 0
    func call() { calls += 1 }
    static func == (one: Someone, other: Someone) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    var description: String { "someone" }
  }

  private final class Part: Conditional {
    let number: Int
    init(_ number: Int) { self.number = number }
    func begin(_ done: @escaping Done) { done(number) }
    static var kind: String { "part" }
    static func make(_ number: Int) -> Int { number }
    func find(in text: String, default number: Int) -> Int? { number + text.count }
    var size: Int? {
      get throws {
        if number < 0 { throw CancellationError() }
        return number
      }
    }
    var weight: Int? { get async throws { number * 2 } }
  }

  @Forwardable(as: (any Guest).self)
  protocol GuestList: AnyObject {
    func enter(_ room: String)
    @Otherwise(false) func leave(_ room: String) -> Bool
  }

  private final class Visitor: NSObject, Guest {
    var rooms: [String] = []
    func enter(_ room: String) { rooms.append(room) }
    func leave(_ room: String) -> Bool { rooms.contains(room) }
  }

  @Suite("Parts of a protocol")
  struct ProtocolPartsTests {
    let parts = Multicast<ConditionalProxy>()
    private let part = Part(4)

    @Test("requirements may be conditional, of the type, and have keywords as labels")
    func members() {
      parts.add(part)
      let done = Mutex(0)
      parts.proxy.begin { number in done.withLock { $0 += number } }
      #expect(done.withLock { $0 } == 4)
      #expect(ConditionalProxy.kind == "nobody", "a requirement of the type has its default")
      #expect(ConditionalProxy.make(5) == 1)
      #expect(parts.proxy.find(in: "abc", default: 1) == 4)
    }

    @Test("properties may throw, be async, or be optional")
    func properties() async throws {
      parts.add(part)
      #expect(try parts.proxy.size == 4)
      #expect(try await parts.proxy.weight == 8)
      #expect(parts.proxy.title == nil)
      let broken = Part(-1)
      parts.add(broken)
      #expect(throws: CancellationError.self) { try parts.proxy.size }
    }

    @Test("a proxy is equal to itself only")
    func identity() {
      let (some, others) = (Multicast<IdentifiedProxy>(), Multicast<IdentifiedProxy>())
      let someone = Someone()
      some.add(someone)
      some.proxy.call()
      #expect(someone.calls == 1)
      #expect(some.proxy == some.proxy)
      #expect(some.proxy != others.proxy)
      #expect(Set([some.proxy, others.proxy, some.proxy]).count == 2)
      #expect(some.proxy.id == ObjectIdentifier(some.proxy))
      #expect("\(some.proxy)" == "IdentifiedProxy")
    }

    @Test("a protocol of another module may be restated")
    func foreign() throws {
      let guests = Multicast<GuestListProxy>()
      let (first, second) = (Visitor(), Visitor())
      guests.add(first)
      guests.add(second)
      let proxy: any Guest = guests.proxy
      proxy.enter("hall")
      #expect(first.rooms == ["hall"])
      #expect(second.rooms == ["hall"])
      #expect(proxy.leave("hall"))
      proxy.rest()
      #expect(try guests.messages.leave.all("attic") == [false, false])
      #expect(proxy.isEqual(guests.proxy))
      #expect(!proxy.isEqual(first))
    }
  }
#endif
