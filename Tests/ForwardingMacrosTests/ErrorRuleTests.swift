// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import Synchronization
  import Testing

  @Forwardable
  private protocol Guarding: AnyObject, Sendable {
    func check(_ number: Int) throws
    func count(_ number: Int) throws -> Int
    func wait(_ number: Int) async throws
    func refuse(_ values: (Int) -> Void) throws
  }

  /// Notes the names of the guards that were called; the one in the middle throws.
  private final class Guard: Guarding {
    let name: String
    let book: Book

    init(_ name: String, _ book: Book) {
      self.name = name
      self.book = book
    }

    private func note() throws {
      book.names.withLock { $0.append(name) }
      if name == "middle" { throw Refusal() }
    }
    func check(_ number: Int) throws { try note() }
    func count(_ number: Int) throws -> Int {
      try note()
      return number
    }
    func wait(_ number: Int) async throws { try note() }
    func refuse(_ values: (Int) -> Void) throws { try note() }
  }

  private final class Book: Sendable {
    let names = Mutex<[String]>([])
  }

  @Suite("What happens after an error")
  struct ErrorRuleTests {
    private typealias Guards = Multicast<GuardingProxy>

    private struct Way: CustomTestStringConvertible, Sendable {
      let testDescription: String
      var lane = DeliveryLane.caller
      var isOnce = false
      var isWatched = false
      let send: @Sendable (Guards) async throws -> Void
    }

    private static let ways: [Way] = [
      Way(testDescription: "a requirement") { try $0.proxy.check(1) },
      Way(testDescription: "a requirement with a result") { _ = try $0.proxy.count(1) },
      Way(testDescription: "a requirement that is awaited") { try await $0.proxy.wait(1) },
      Way(testDescription: "a requirement that is no message") { try $0.proxy.refuse { _ in } },
      Way(testDescription: "once-only targets", isOnce: true) { try $0.proxy.check(1) },
      Way(testDescription: "queues that block", lane: .blocking(DispatchQueue(label: "guards"))) {
        try $0.proxy.check(1)
      },
      Way(testDescription: "a proxy that watches", isWatched: true) { try $0.proxy.check(1) },
      Way(testDescription: "a message by its selector") {
        try Message<Void, Int>("check:")(1, on: $0.untyped)
      },
      Way(testDescription: "all answers") { _ = try $0.messages.count.all(1) },
      Way(testDescription: "a report") {
        if let error = try $0.messages.check.report(1).errors.first { throw error }
      },
      Way(testDescription: "a report of answers") {
        if let error = try $0.messages.count.report(1).errors.first { throw error }
      },
      Way(testDescription: "awaited answers") {
        _ = try await $0.messages.wait.all(1, concurrently: false)
      },
    ]

    @Test("the first error ends the delivery at once, or after all targets", arguments: ways)
    private func rules(way: Way) async throws {
      for (rule, expected) in [
        (ErrorRule.afterAll, ["first", "middle", "last"]),
        (.atOnce, ["first", "middle"]),
      ] {
        let guards = Guards(way.isWatched ? MessagesAlone() : MulticastProxy())
        guards.errorRule = rule
        #expect(guards.errorRule == rule)
        let book = Book()
        for name in ["first", "middle", "last"] {
          guards.add(
            unchecked: Guard(name, book), strongly: true, on: way.lane, once: way.isOnce)
        }
        await #expect(throws: Refusal.self) { try await way.send(guards) }
        #expect(book.names.withLock { $0 } == expected, "\(rule)")
      }
    }

    @Test("a target that was left out is reported as not called")
    func report() throws {
      let guards = Guards()
      guards.errorRule = .atOnce
      let book = Book()
      for name in ["middle", "last"] { guards.add(Guard(name, book), strongly: true) }
      let report = try guards.messages.check.report(1)
      #expect(report.entries.map { "\($0.outcome)" }.last == "notCalled")
    }

    @Test("the rule is apart from the others of a multicast")
    func others() {
      let guards = Guards()
      guards.resultRule = .first
      #expect(guards.errorRule == .afterAll)
      guards.errorRule = .atOnce
      #expect(guards.resultRule == .first)
      guards.resultRule = .last
      #expect(guards.errorRule == .atOnce)
      guards.errorRule = .afterAll
      #expect(guards.resultRule == .last)
    }
  }
#endif
