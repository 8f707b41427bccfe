// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Testing

  @Suite("The turns of targets in an awaited requirement", .timeLimit(.minutes(60)))
  struct AwaitedTurnsTests: RunningTests {
    let story = Story()
    let kept = Guarded<[any Sendable]>([])

    @Test("targets take turns one after the other, in order", arguments: ProxyWay.allCases)
    func order(_ way: ProxyWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      runner("b", in: targets)
      runner("first", in: targets, priority: 1)
      a.does { [story] in story.tell("a is awaited") }
      await targets.proxy.run(1)
      #expect(story.take() == ["first runs 1", "a runs 1", "a is awaited", "b runs 1"])
      #expect(await targets.proxy.weigh(1) == 2)
      targets.resultRule = .first
      story.tell("first counts")
      #expect(await targets.proxy.weigh(1) == 6)
      #expect(story.take().suffix(2) == ["first counts", "first weighs 1"])
      await targets.proxy.run(2)
      #expect(story.take().count == 4)
    }

    @Test(
      "removed, blocked and dead targets are skipped; an added one is called by the next call",
      arguments: ProxyWay.allCases)
    func changes(_ way: ProxyWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      let (b, c) = (runner("b", in: targets), Runner("c", story))
      let blocked = targets.add(c)
      let dying = Guarded<Runner?>(Runner("d", story))
      if let one = dying.read({ $0 }) { targets.add(one) }
      let late = Runner("late", story)
      a.does {
        targets.remove(b)
        targets.suspend(blocked)
        dying.withLock { $0 = nil }
        targets.add(late)
      }
      await targets.proxy.run(1)
      #expect(story.take() == ["a runs 1", "dead"])
      #expect(targets.count == 3)
      a.does {}
      await targets.proxy.run(2)
      #expect(story.take() == ["a runs 2", "late runs 2"])
      targets.resume(blocked)
      await targets.proxy.run(3)
      #expect(story.take() == ["a runs 3", "c runs 3", "late runs 3"])
    }

    @Test(
      "an error does not end the turns; the first is thrown, and the others are reported",
      arguments: ProxyWay.allCases)
    func errors(_ way: ProxyWay) async throws {
      let targets = running(way)
      let all = ["a", "b", "c", "d"].map { runner($0, in: targets) }
      for one in [all[1], all[3]] { one.fails.withLock { $0 = true } }
      await #expect(throws: Lame(name: "b")) { try await targets.proxy.check(1) }
      #expect(
        story.take() == [
          "a checks 1", "b checks 1", "c checks 1", "d checks 1",
          "failed check: Lame(name: \"d\")",
        ])
      await #expect(throws: Lame(name: "b")) { try await targets.proxy.grade(1) }
      #expect(story.take().count == 5)
    }

    @Test(
      "an error that a typed requirement cannot throw is reported as unheard",
      arguments: ProxyWay.allCases)
    func unheard(_ way: ProxyWay) async throws {
      let targets = running(way)
      let raw = ClosureTarget()
      try raw.register(
        "grade:",
        Implementation { (_: ClosureTarget, _: Int) async throws -> Int in throw CancellationError()
        })
      targets.untyped.add(raw, strongly: true)
      #expect(try await targets.proxy.grade(1) == -1)
      #expect(story.take() == ["unheard grade: CancellationError()"])
    }

    @Test("no turn begins once the task is cancelled", arguments: ProxyWay.allCases)
    func cancelled(_ way: ProxyWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      runner("b", in: targets)
      a.does { withUnsafeCurrentTask { $0?.cancel() } }
      let proxy = targets.proxy
      await #expect(throws: CancellationError.self) {
        try await Task { try await proxy.check(1) }.value
      }
      #expect(story.take() == ["a checks 1"])
    }

    @Test(
      "a cancelled task calls all targets if no error could tell its caller",
      arguments: ProxyWay.allCases)
    func uncancelled(_ way: ProxyWay) async throws {
      let targets = running(way)
      let queue = DispatchQueue(label: "cancelled")
      let (a, b) = (runner("a", in: targets), Runner("b", story))
      targets.add(b, on: .queue(queue))
      a.does { withUnsafeCurrentTask { $0?.cancel() } }
      let proxy = targets.proxy
      await Task { await proxy.run(2) }.value
      #expect(story.take() == ["a runs 2", "b runs 2"])
      let weight = await Task { await proxy.weigh(3) }.value
      #expect(weight == 4)
      #expect(story.take() == ["a weighs 3", "b weighs 3"])
      let grade = try await Task { () async throws(Lame) in
        withUnsafeCurrentTask { $0?.cancel() }
        return try await proxy.grade(4)
      }.value
      #expect(grade != -1)
      #expect(story.take().count == 2)
      b.fails.withLock { $0 = true }
      await #expect(throws: Lame(name: "b")) {
        try await Task { () async throws(Lame) in
          withUnsafeCurrentTask { $0?.cancel() }
          return try await proxy.grade(4)
        }.value
      }
    }

    @Test("a task cancelled before takes no turn, except that of a single target")
    func cancelledBefore() async throws {
      let (targets, one) = (running(.calls), Runner("one", story))
      targets.add(one)
      let source = DataSource<RunningProxy>()
      source.add(one)
      let single = SingleTarget<RunningProxy>(one)
      let proxies: [(proxy: any Running, isAsked: Bool)] = [
        (targets.proxy, false), (source.proxy, false), (single.proxy, true),
      ]
      for (proxy, isAsked) in proxies {
        let task = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          return try await proxy.check(5)
        }
        let answer = try? await task.value
        #expect(answer == (isAsked ? 5 : nil))
        #expect(story.take() == (isAsked ? ["one checks 5"] : []))
      }
    }

    @Test("dead targets are reported and purged", arguments: ProxyWay.allCases)
    func dead(_ way: ProxyWay) async throws {
      let targets = running(way)
      let a = Guarded<Runner?>(Runner("a", story))
      if let one = a.read({ $0 }) { targets.add(one) }
      let b = runner("b", in: targets)
      await targets.proxy.run(1)
      a.withLock { $0 = nil }
      await targets.proxy.run(2)
      #expect(story.take() == ["a runs 1", "b runs 1", "b runs 2", "dead"])
      #expect(targets.count == 1)
      targets.remove(b)
      targets.add(Runner("gone", story))
      await #expect(throws: ForwardingError.nobodyAnswered("check:")) {
        try await targets.proxy.check(3)
      }
      #expect(targets.count == 0)
      #expect(story.take() == ["dead", "unanswered check:"])
    }

    @Test("turns that begin each other without end are refused", arguments: ProxyWay.allCases)
    func depth(_ way: ProxyWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      let count = Guarded(0)
      let proxy = targets.proxy
      a.does {
        let depth = count.withLock {
          $0 += 1
          return $0
        }
        if depth > 1000 { throw CancellationError() }
        _ = try await proxy.check(depth)
      }
      let tooDeep = InvocationError.forwardedTooDeeply("check:", limit: 200)
      await #expect(throws: tooDeep) { try await targets.proxy.check(0) }
      // A message counts as two steps: one of the proxy, and one of its delivery.
      let limit = way == .calls ? 200 : 100
      #expect(count.read { $0 } == limit)
      // All steps have ended.
      count.withLock { $0 = 0 }
      await #expect(throws: tooDeep) { try await targets.proxy.check(0) }
      #expect(count.read { $0 } == limit)
      a.does {}
      #expect(try await targets.proxy.check(7) == 7)
    }

    @Test(
      "a circle of proxies is detected: each target is called once, awaited or not",
      arguments: ProxyWay.allCases, [false, true])
    func circles(_ way: ProxyWay, _ isAwaited: Bool) async throws {
      for count in 2...3 {
        let all = (0..<count).map { _ in Multicast<RunningProxy>(way.untyped) }
        for one in all {
          one.onDiagnostic = { _ in }
          for other in all where other !== one { one.add(other.proxy) }
        }
        for (number, one) in all.enumerated() { runner("\(number)", in: one) }
        if isAwaited { await all[0].proxy.run(1) } else { all[0].proxy.tick(1) }
        let told = story.take()
        #expect(Set(told).count == count && told.count < 10, "\(told)")
        withExtendedLifetime(all) {}
      }
    }

    @Test("targets of all kinds are called in order", arguments: ProxyWay.allCases)
    func kinds(_ way: ProxyWay) async throws {
      final class Replaced: Running, @unchecked Sendable {
        let story: Story
        init(_ story: Story) { self.story = story }
        func run(_ number: Int) async { story.tell("replaced is called") }
        func weigh(_ number: Int) async -> Int { 0 }
        func check(_ number: Int) async throws -> Int { 0 }
        func grade(_ number: Int) async throws(Lame) -> Int { 0 }
        func tick(_ number: Int) {}
      }
      let targets = running(way)
      let queue = DispatchQueue(label: "running")
      let inner = running(way)
      runner("a", in: targets)
      targets.add(Runner("queued", story), strongly: true, on: .queue(queue))
      targets.add(Runner("once", story), strongly: true, once: true)
      targets.suspend(targets.add(Runner("blocked", story), strongly: true))
      targets.add(Replaced(story), strongly: true)
      targets.add(Runner("waited", story), strongly: true, on: .blocking(queue))
      let raw = ClosureTarget()
      try raw.register(
        "run:",
        Implementation { [story] (_: ClosureTarget, number: Int) async in
          story.tell("raw runs \(number)")
        })
      targets.untyped.add(raw, strongly: true)
      targets.add(inner.proxy)
      inner.add(Runner("inner", story), strongly: true)
      targets.add(Runner("z", story), strongly: true)
      MethodTable.of(Replaced.self).replace(
        "run:",
        try Implementation { (target: Replaced, number: Int) async -> Void in
          target.story.tell("replaced runs \(number)")
        })
      let names = ["a", "queued", "once", "replaced", "waited", "raw", "inner", "z"]
      await targets.proxy.run(1)
      #expect(story.take() == names.map { "\($0) runs 1" })
      await targets.proxy.run(2)
      #expect(story.take() == names.filter { $0 != "once" }.map { "\($0) runs 2" })
    }

    @Test(
      "turns retain the objects that they need when all other references are released",
      arguments: ProxyWay.allCases)
    func lifetime(_ way: ProxyWay) async throws {
      let (targets, a) = (Guarded<Multicast<RunningProxy>?>(running(way)), Runner("a", story))
      let b = Runner("b", story)
      for one in [a, b] { targets.read { $0 }?.add(one, strongly: true) }
      a.does {
        await Task.yield()
        targets.withLock { $0 = nil }
        await Task.yield()
      }
      let answer = try await targets.read { $0?.proxy }?.check(4)
      #expect(answer == 4)
      #expect(story.take() == ["a checks 4", "b checks 4"])
    }

    @Test("turns of many concurrent tasks do not interfere", arguments: ProxyWay.allCases)
    func concurrent(_ way: ProxyWay) async throws {
      let targets = running(way)
      for number in 0..<4 { runner("\(number)", in: targets) }
      let rested = Rested("r", story)
      targets.add(rested, strongly: true)
      let proxy = targets.proxy
      await withTaskGroup(of: Bool.self) { group in
        for number in 0..<50 {
          group.addTask {
            if number % 10 == 3 {
              let token = targets.add(rested.runner)
              _ = try? await targets.untyped.removeAndWait(token)
            }
            return (try? await proxy.rate(number)) == number
          }
        }
        for await isRight in group { #expect(isRight) }
      }
    }
  }
#endif
