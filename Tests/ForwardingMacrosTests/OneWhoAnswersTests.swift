// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Testing

  @Forwardable
  private protocol Source: AnyObject, Sendable {
    @Otherwise(-1) func count<Value: Equatable>(_ values: [Value], of value: Value) -> Int
    func visit(_ body: (Int) -> Void)
    func push(_ number: Int) throws
    func ask(_ number: Int) throws -> Int
    func countLater<Value: Equatable>(_ values: [Value], of value: Value) async throws -> Int
    func tell(_ number: Int)
  }

  private final class Shelf: Source {
    let calls = LockedValue<[String]>([])
    let fails: Bool
    init(fails: Bool = false) { self.fails = fails }
    private func note(_ call: String) { calls.withLock { $0.append(call) } }
    var heard: [String] { calls.withLock { $0 } }

    func count<Value: Equatable>(_ values: [Value], of value: Value) -> Int {
      note("count")
      return values.count { $0 == value }
    }
    func visit(_ body: (Int) -> Void) {
      note("visit")
      body(3)
    }
    func push(_ number: Int) throws {
      note("push")
      if fails { throw Lame(name: "full") }
    }
    func ask(_ number: Int) throws -> Int {
      note("ask")
      if fails { throw Lame(name: "full") }
      return number
    }
    func countLater<Value: Equatable>(_ values: [Value], of value: Value) async throws -> Int {
      count(values, of: value)
    }
    func tell(_ number: Int) { note("tell") }
  }

  @Suite("One who answers")
  struct OneWhoAnswersTests {
    private let source = DataSource<SourceProxy>()
    private let fallback = Shelf()

    @Test("the fallback answers requirements that cannot be messages")
    func fallbackWithoutMessages() async throws {
      source.setFallback(fallback)
      #expect(source.proxy.count([1, 2, 1], of: 1) == 2)
      var total = 0
      source.proxy.visit { total += $0 }
      #expect(total == 3)
      #expect(try await source.proxy.countLater([1, 2, 1], of: 2) == 1)
      #expect(fallback.heard == ["count", "visit", "count"])
    }

    @Test("the fallback is asked after all others, and only if none answers")
    func fallbackComesLast() throws {
      source.setFallback(fallback)
      let shelf = Shelf()
      source.add(shelf, priority: .min)
      source.proxy.tell(1)
      source.proxy.visit { _ in }
      #expect(try source.proxy.ask(5) == 5)
      #expect(shelf.heard == ["tell", "visit", "ask"])
      #expect(fallback.heard.isEmpty)
      source.remove(shelf)
      #expect(try source.proxy.ask(6) == 6)
      #expect(fallback.heard == ["ask"])
      source.setFallback(nil)
      #expect(throws: ForwardingError.self) { try source.proxy.ask(7) }
    }

    @Test("an error is the answer: neither the next target nor the fallback is asked")
    func errors() {
      let (failing, next) = (Shelf(fails: true), Shelf())
      source.add(failing)
      source.add(next)
      source.setFallback(fallback)
      #expect(throws: Lame.self) { try source.proxy.ask(1) }
      #expect(throws: Lame.self) { try source.proxy.push(1) }
      #expect(next.heard.isEmpty)
      #expect(fallback.heard.isEmpty)
    }

    @Test("a target on a queue is the one that gets a requirement without a result")
    func queue() {
      let queue = DispatchQueue(label: "shelf")
      let (later, next) = (Shelf(), Shelf())
      source.add(unchecked: later, on: .queue(queue))
      source.add(next)
      source.setFallback(fallback)
      source.proxy.tell(1)
      queue.sync {}
      #expect(later.heard == ["tell"])
      #expect(next.heard.isEmpty)
      #expect(fallback.heard.isEmpty)
    }

    @Test("a target that dies at once is reported, and so is one that a new target has replaced")
    func died() throws {
      let story = LockedValue<[String]>([])
      let single = SingleTarget<SourceProxy>(Shelf())
      single.onDiagnostic = { diagnostic in
        if case .diedUnreached(_, let type) = diagnostic { story.withLock { $0.append("\(type)") } }
      }
      #expect(throws: ForwardingError.targetGone("ask:")) { try single.proxy.ask(1) }
      #expect(story.withLock { $0 } == ["Shelf"])
      single.setTarget(Shelf(), strongly: true)
      #expect(try single.proxy.ask(2) == 2)
      single.target = fallback
      #expect(single.target === fallback)
      #expect(single.count == 1)
      #expect(try single.proxy.ask(3) == 3)
      single.add(Shelf(), strongly: true, once: true)
      #expect(try single.proxy.ask(4) == 4)
      #expect(single.target == nil)
      #expect(fallback.heard == ["ask"])
    }
  }
#endif
