// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ProxyProtocols
  import Forwarding
  import Synchronization
  import Testing

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
#endif
