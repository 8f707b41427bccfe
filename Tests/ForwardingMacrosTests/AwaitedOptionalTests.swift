// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Forwarding
  import Testing

  @Forwardable
  protocol Walking: Sendable {
    @Optional func rest(_ number: Int) async
    @Optional @Otherwise("none") func title(_ number: Int) async -> String
    @Optional func rate(_ number: Int) async throws -> Int
    @Optional func price(_ number: Int) throws -> Int
    @Optional mutating func step(_ count: Int) async
    @Otherwise(0) func steps() async -> Int
  }

  private struct Idler: Walking {
    func steps() async -> Int { -5 }
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
      if number < 0 { throw Lame(name: "walker") }
      return number
    }
    func price(_ number: Int) throws -> Int {
      if number < 0 { throw Lame(name: "walker") }
      return number
    }
    mutating func step(_ count: Int) async { self.count += count }
    func steps() async -> Int { count }
  }

  private final class IdleWalker: Walking {
    func steps() async -> Int { -7 }
  }

  @Suite("Awaited optional requirements", .timeLimit(.minutes(60)))
  struct AwaitedOptionalTests: RunningTests {
    let story = Story()
    let kept = Guarded<[any Sendable]>([])

    @Test("a class that omits an optional requirement is recognized", arguments: ProxyWay.allCases)
    func optional(_ way: ProxyWay) async throws {
      let targets = running(way)
      let rested = Rested("r", story)
      runner("a", in: targets)
      await targets.proxy.rest(1)
      #expect(await targets.proxy.title(1) == "none")
      await #expect(throws: ForwardingError.nobodyAnswered("rate:")) {
        try await targets.proxy.rate(1)
      }
      #expect(story.take() == ["rest:", "rate:"].map { "unanswered \($0)" })
      targets.add(rested, strongly: true)
      runner("b", in: targets)
      for number in 2...3 {
        await targets.proxy.rest(number)
        #expect(await targets.proxy.title(number) == "title \(number)")
        #expect(try await targets.proxy.rate(number) == number)
        #expect(story.take() == ["r rests \(number)", "r rates \(number)"])
      }
      rested.runner.fails.withLock { $0 = true }
      await #expect(throws: Lame(name: "r")) { try await targets.proxy.rate(4) }
    }

    @Test(
      "it is recognized if a target calls another proxy in between", arguments: ProxyWay.allCases)
    func optionalInside(_ way: ProxyWay) async throws {
      let (outer, inner) = (running(way), running(way))
      let (idle, rested) = (runner("idle", in: inner), Rested("r", story))
      outer.add(rested, strongly: true)
      let proxy = inner.proxy
      rested.runner.does { [idle] in
        await proxy.rest(1)
        await idle.rest(2)
        async let child: Void = idle.rest(3)
        await child
      }
      #expect(try await outer.proxy.rate(5) == 5)
      await outer.proxy.rest(6)
      #expect(
        story.take() == ["r rates 5", "unanswered rest:", "r rests 6", "unanswered rest:"])
    }

    @Test("it is recognized for values in boxes", arguments: ProxyWay.allCases)
    func boxes(_ way: ProxyWay) async throws {
      let targets = Multicast<WalkingProxy>(way.untyped)
      let idle = IdleWalker()
      targets.add(Idler())
      targets.add(idle)
      for _ in 0..<2 {
        await targets.proxy.rest(1)
        #expect(await targets.proxy.title(1) == "none")
        await #expect(throws: ForwardingError.nobodyAnswered("rate:")) {
          try await targets.proxy.rate(1)
        }
        #expect(throws: ForwardingError.nobodyAnswered("price:")) { try targets.proxy.price(1) }
      }
      targets.add(Walker(story: story))
      targets.add(Idler())
      for number in 2...3 {
        await targets.proxy.rest(number)
        #expect(await targets.proxy.title(number) == "title \(number)")
        #expect(try await targets.proxy.rate(number) == number)
        #expect(try targets.proxy.price(number) == number)
        #expect(story.take() == ["rests \(number)"])
        await targets.proxy.step(number)
      }
      await #expect(throws: Lame(name: "walker")) { try await targets.proxy.rate(-1) }
      #expect(throws: Lame(name: "walker")) { try targets.proxy.price(-1) }
      #expect(await targets.proxy.steps() == -5)
    }
  }
#endif
