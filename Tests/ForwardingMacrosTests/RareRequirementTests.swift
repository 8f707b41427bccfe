// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Testing

  /// A type of the program with the name of a lent type of Swift's, which has type arguments.
  final class Span: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
  }

  // These tests are built with warnings as errors: the code of the proxy has none.
  @Forwardable
  private protocol Buttons {
    typealias Number = Int
    var onTap: (() -> Int)? { get set }
    @Otherwise({ 0 }) var onHold: () -> Int { get set }
    subscript(newValue: Int) -> String? { get set }
    func visit(_ body: ((Int) -> Void))
    func lend(_ list: borrowing [Int]) async
    func take(_ number: Self.Number) -> Self.Number?
    @Optional func wait(_ number: Int) async -> Int?
    mutating func `press button`(`by hand` number: Int)
    var `last one`: Int? { get set }
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
    var `last one`: Int?
    var age = 1
    var stored: [Int] = []
    subscript(newValue: Int) -> String? {
      get { names[newValue] }
      set(name) { names[newValue] = name }
    }
    func visit(_ body: ((Int) -> Void)) { body(7) }
    func lend(_ list: borrowing [Int]) async { #expect(list.count == 2) }
    func take(_ number: Int) -> Int? { number + 1 }
    func wait(_ number: Int) async -> Int? { number + 2 }
    mutating func `press button`(`by hand` number: Int) { stored.append(number) }
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
      #expect(proxy.take(1) == 2)
      #expect(await proxy.wait(1) == 3)
      proxy.`last one` = 8
      #expect(proxy.`last one` == 8)
      #expect(proxy.end(Span("three")) == 5)
      #expect(try await proxy.count([4, 5, 6]) == 3)
      proxy.`press button`(`by hand`: 3)
      // Each target gets a consumed argument as the sender gave it.
      proxy.keep([1, 2], from: "sender")
      #expect(panels.targets.map(\.stored) == [[3, 1, 2, 6], [3, 1, 2, 6]])
    }

    @Test("they are messages, also if they are deprecated")
    func messages() throws {
      #expect(try panels.messages.take.all(4) == [5, 5])
      #expect(try panels.messages.end.all(Span("four")) == [4, 4])
      #expect(try panels.messages.pressButtonByHand.report(3).answered == 2)
      #expect(try panels.messages.setLastOne.report(9).answered == 2)
      #expect(try panels.messages.lastOne.all() == [9, 9])
      #expect(try panels.messages.setOnHold.report({ 10 }).answered == 2)
      #expect(panels.proxy.onHold() == 10)
      _ = try panels.messages.store.report(7)
      _ = try panels.messages.setAge.report(30)
      #expect(panels.targets.map(\.stored) == [[3, 7], [3, 7]])
      #expect(try panels.messages.age.all() == [30, 30])
    }
  }
#endif
