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
#endif
