// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Forwarding
  import Testing

  @Forwardable
  private protocol Walking: Sendable {
    @Optional func rest(_ number: Int) async
    @Optional @Otherwise("none") func title(_ number: Int) async -> String
    @Optional func rate(_ number: Int) async throws -> Int
    @Optional func price(_ number: Int) throws -> Int
    @Optional mutating func step(_ count: Int) async
    @Otherwise(0) func steps() async -> Int
    @Optional func close()
    @Optional func check() throws(CancellationError)
    @Optional func guess(_ number: Int) -> Int?
    @Optional func wait(_ number: Int) async -> Int?
    @Optional @Otherwise(throw: Lame(name: "closed"))
    mutating func leave(_ number: Int) throws(Lame) -> Int
    @Optional @Otherwise(throw: Lame(name: "closed"))
    func leaveLater(_ number: Int) async throws(Lame) -> Int
  }

  private struct Idler: Walking {
    func steps() async -> Int { -5 }
  }

  private final class IdleWalker: Walking {
    func steps() async -> Int { -7 }
  }

  private struct Walker: Walking {
    let story: Story
    var count = 0
    func rest(_ number: Int) async {
      await Task.yield()
      story.tell("rests \(number)")
    }
    func title(_ number: Int) async -> String {
      await Task.yield()
      return "title \(number)"
    }
    func rate(_ number: Int) async throws -> Int {
      await Task.yield()
      return try price(number)
    }
    func price(_ number: Int) throws -> Int {
      if number < 0 { throw Lame(name: "walker") }
      return number
    }
    mutating func step(_ count: Int) async { self.count += count }
    func steps() async -> Int { count }
    mutating func leave(_ number: Int) throws(Lame) -> Int { 2 * number }
    func leaveLater(_ number: Int) async throws(Lame) -> Int { 3 * number }
  }

  /// Has optional requirements, and asks another value first.
  private struct Decorated: Walking {
    let inner: any Walking
    func steps() async -> Int { await inner.steps() }
    func guess(_ number: Int) -> Int? { inner.guess(number) ?? 5 }
    func wait(_ number: Int) async -> Int? { await inner.wait(number) ?? 6 }
    func close() { inner.close() }
    func check() throws(CancellationError) { try inner.check() }
  }

  @Suite("Optional requirements of values, awaited or not", .timeLimit(.minutes(60)))
  struct AwaitedOptionalTests {
    private let story = Story()

    @Test("what a value omits is recognized, as in a class", arguments: ProxyWay.allCases)
    func values(_ way: ProxyWay) async throws {
      let targets = Multicast<WalkingProxy>(way.untyped)
      targets.add(Idler())
      targets.add(IdleWalker(), strongly: true)
      for _ in 0..<2 {
        await targets.proxy.rest(1)
        #expect(await targets.proxy.title(1) == "none")
        await #expect(throws: ForwardingError.nobodyAnswered("rate:")) {
          try await targets.proxy.rate(1)
        }
        #expect(throws: ForwardingError.nobodyAnswered("price:")) { try targets.proxy.price(1) }
        #expect(throws: Lame(name: "closed")) { try targets.proxy.leave(1) }
        await #expect(throws: Lame(name: "closed")) { try await targets.proxy.leaveLater(1) }
      }
      targets.add(Walker(story: story))
      targets.add(Idler())
      for number in 2...3 {
        await targets.proxy.rest(number)
        #expect(await targets.proxy.title(number) == "title \(number)")
        #expect(try await targets.proxy.rate(number) == number)
        #expect(try targets.proxy.price(number) == number)
        #expect(try targets.proxy.leave(number) == 2 * number)
        #expect(try await targets.proxy.leaveLater(number) == 3 * number)
        #expect(story.take() == ["rests \(number)"])
        await targets.proxy.step(number)
      }
      await #expect(throws: Lame(name: "walker")) { try await targets.proxy.rate(-1) }
      #expect(throws: Lame(name: "walker")) { try targets.proxy.price(-1) }
      #expect(await targets.proxy.steps() == -5)
    }

    @Test("the answer of a value counts that asked another one, which leaves it out")
    func decorated() async throws {
      for inner in [Idler(), IdleWalker(), Decorated(inner: Idler())] as [any Walking] {
        let source = DataSource<WalkingProxy>()
        if !(inner is Decorated) { source.add(inner, strongly: true) }
        source.add(Decorated(inner: inner))
        #expect(source.proxy.guess(1) == 5)
        #expect(await source.proxy.wait(1) == 6)
        let all = Multicast<WalkingProxy>()
        all.add(Decorated(inner: inner), once: true)
        all.proxy.close()
        #expect(all.count == 0)
        all.add(Decorated(inner: inner), once: true)
        try all.proxy.check()
        #expect(all.count == 0)
        all.add(Decorated(inner: inner))
        #expect(try all.messages.guess.all(1) == [5])
      }
    }

    @Test("a value that leaves a requirement out is not used up by it")
    func leaving() throws {
      for plain in [Idler(), IdleWalker()] as [any Walking] {
        let all = Multicast<WalkingProxy>()
        all.add(plain, strongly: true, once: true)
        all.proxy.close()
        #expect(all.count == 1)
        #expect(try all.messages.guess.report(1).answered == 0)
      }
    }
  }
#endif
