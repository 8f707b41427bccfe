#if Macros
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Testing

  struct Lame: Error, Equatable { let name: String }

  /// Requirements of each kind that is awaited.
  @Forwardable
  protocol Running: AnyObject, Sendable {
    func run(_ number: Int) async
    @Otherwise(-1) func weigh(_ number: Int) async -> Int
    func check(_ number: Int) async throws -> Int
    @Otherwise(-1) func grade(_ number: Int) async throws(Lame) -> Int
    @Optional func rest(_ number: Int) async
    @Optional @Otherwise("none") func title(_ number: Int) async -> String
    @Optional func rate(_ number: Int) async throws -> Int
    func tick(_ number: Int)
  }

  private class Runner: Running, @unchecked Sendable {
    let name: String
    let story: Story
    let errand = Guarded<(@Sendable () async throws -> Void)?>(nil)
    let fails = Guarded(false)

    init(_ name: String, _ story: Story) { (self.name, self.story) = (name, story) }

    func does(_ body: @escaping @Sendable () async throws -> Void) { errand.withLock { $0 = body } }

    func note(_ what: String) async throws {
      story.tell("\(name) \(what)")
      await Task.yield()
      try await errand.read { $0 }?()
      if fails.read({ $0 }) { throw Lame(name: name) }
    }

    func run(_ number: Int) async { try? await note("runs \(number)") }
    func weigh(_ number: Int) async -> Int {
      try? await note("weighs \(number)")
      return number + name.count
    }
    func check(_ number: Int) async throws -> Int {
      try await note("checks \(number)")
      return number
    }
    func grade(_ number: Int) async throws(Lame) -> Int {
      do { try await note("grades \(number)") } catch { throw Lame(name: name) }
      return number
    }
    func tick(_ number: Int) { story.tell("\(name) ticks \(number)") }
  }

  private final class Rested: Running, @unchecked Sendable {
    let runner: Runner
    init(_ name: String, _ story: Story) { runner = Runner(name, story) }
    func run(_ number: Int) async { await runner.run(number) }
    func weigh(_ number: Int) async -> Int { await runner.weigh(number) }
    func check(_ number: Int) async throws -> Int { try await runner.check(number) }
    func grade(_ number: Int) async throws(Lame) -> Int { try await runner.grade(number) }
    func rest(_ number: Int) async { try? await runner.note("rests \(number)") }
    func title(_ number: Int) async -> String { "title \(number)" }
    func rate(_ number: Int) async throws -> Int {
      try await runner.note("rates \(number)")
      return number
    }
    func tick(_ number: Int) { runner.tick(number) }
  }

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

  /// Waits until others have come so far.
  private actor Latch {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    func open() {
      isOpen = true
      for one in waiting { one.resume() }
      waiting = []
    }
    func wait() async { if !isOpen { await withCheckedContinuation { waiting.append($0) } } }
  }

  @Suite("The turns of a requirement that is awaited", .timeLimit(.minutes(5)))
  struct AwaitedTurnsTests {
    private let story = Story()
    /// What proxies hold weakly.
    private let kept = Guarded<[any Sendable]>([])

    private func running(_ way: FaceWay) -> Multicast<RunningProxy> {
      let proxy = way.proxy
      story.listen(to: proxy)
      return Multicast<RunningProxy>(proxy)
    }

    @discardableResult
    private func runner(
      _ name: String, in targets: Multicast<RunningProxy>, priority: Int = 0
    ) -> Runner {
      let runner = Runner(name, story)
      kept.withLock { $0.append(runner) }
      targets.add(runner, priority: priority)
      return runner
    }

    @Test("are taken one after the other, in the order of the targets", arguments: FaceWay.allCases)
    func order(_ way: FaceWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      runner("b", in: targets)
      runner("first", in: targets, priority: 1)
      a.does { [story] in story.tell("a is awaited") }
      await targets.face.run(1)
      #expect(story.take() == ["first runs 1", "a runs 1", "a is awaited", "b runs 1"])
      #expect(await targets.face.weigh(1) == 2)
      targets.resultRule = .first
      story.tell("first counts")
      #expect(await targets.face.weigh(1) == 6)
      #expect(story.take().suffix(2) == ["first counts", "first weighs 1"])
      await targets.face.run(2)
      #expect(story.take().count == 4)
    }

    @Test(
      "skip a target that was removed before its own, blocked or dead; one that was added hears the next",
      arguments: FaceWay.allCases)
    func changes(_ way: FaceWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      let (b, c) = (runner("b", in: targets), Runner("c", story))
      let blocked = targets.add(c)
      let dying = Guarded<Runner?>(Runner("d", story))
      if let one = dying.read({ $0 }) { targets.add(one) }
      let late = Runner("late", story)
      a.does {
        targets.remove(b)
        targets.block(blocked)
        dying.withLock { $0 = nil }
        targets.add(late)
      }
      await targets.face.run(1)
      #expect(story.take() == ["a runs 1", "dead"])
      #expect(targets.count == 3)
      a.does {}
      await targets.face.run(2)
      #expect(story.take() == ["a runs 2", "late runs 2"])
      targets.unblock(blocked)
      await targets.face.run(3)
      #expect(story.take() == ["a runs 3", "c runs 3", "late runs 3"])
    }

    @Test(
      "go on behind an error; the first is thrown, others are told", arguments: FaceWay.allCases)
    func errors(_ way: FaceWay) async throws {
      let targets = running(way)
      let all = ["a", "b", "c", "d"].map { runner($0, in: targets) }
      for one in [all[1], all[3]] { one.fails.withLock { $0 = true } }
      await #expect(throws: Lame(name: "b")) { try await targets.face.check(1) }
      #expect(
        story.take() == [
          "a checks 1", "b checks 1", "c checks 1", "d checks 1",
          "failed check: Lame(name: \"d\")",
        ])
      await #expect(throws: Lame(name: "b")) { try await targets.face.grade(1) }
      #expect(story.take().count == 5)
    }

    @Test(
      "end with an error that a typed requirement cannot throw as one that was not heard",
      arguments: FaceWay.allCases)
    func unheard(_ way: FaceWay) async throws {
      let targets = running(way)
      let raw = ClosureTarget()
      try raw.register("grade:") { (_: Int) async throws -> Int in throw CancellationError() }
      targets.proxy.add(raw, strongly: true)
      #expect(try await targets.face.grade(1) == -1)
      #expect(story.take() == ["unheard grade: CancellationError()"])
    }

    @Test("do not begin once the task is cancelled", arguments: FaceWay.allCases)
    func cancelled(_ way: FaceWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      runner("b", in: targets)
      a.does { withUnsafeCurrentTask { $0?.cancel() } }
      let face = targets.face
      await #expect(throws: CancellationError.self) {
        try await Task { try await face.check(1) }.value
      }
      #expect(story.take() == ["a checks 1"])
      await Task { await face.run(2) }.value
      #expect(story.take() == ["a runs 2"])
      let weight = await Task { await face.weigh(3) }.value
      #expect(weight == -1)
      #expect(story.take() == ["a weighs 3"])
    }

    @Test("of a task that was cancelled before are none, but that of a single target")
    func cancelledBefore() async throws {
      let (targets, one) = (running(.calls), Runner("one", story))
      targets.add(one)
      let source = DataSource<RunningProxy>()
      source.add(one)
      let single = SingleTarget<RunningProxy>(one)
      let faces: [(face: any Running, isAsked: Bool)] = [
        (targets.face, false), (source.face, false), (single.face, true),
      ]
      for (face, isAsked) in faces {
        let task = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          return try await face.check(5)
        }
        let answer = try? await task.value
        #expect(answer == (isAsked ? 5 : nil))
        #expect(story.take() == (isAsked ? ["one checks 5"] : []))
      }
    }

    @Test("of targets that are dead are told, and purged", arguments: FaceWay.allCases)
    func dead(_ way: FaceWay) async throws {
      let targets = running(way)
      let a = Guarded<Runner?>(Runner("a", story))
      if let one = a.read({ $0 }) { targets.add(one) }
      let b = runner("b", in: targets)
      await targets.face.run(1)
      a.withLock { $0 = nil }
      await targets.face.run(2)
      #expect(story.take() == ["a runs 1", "b runs 1", "b runs 2", "dead"])
      #expect(targets.count == 1)
      targets.remove(b)
      targets.add(Runner("gone", story))
      await #expect(throws: ForwardingError.nobodyAnswered("check:")) {
        try await targets.face.check(3)
      }
      #expect(targets.count == 0)
      #expect(story.take() == ["dead", "unanswered check:"])
    }

    @Test("that begin each other without end are refused", arguments: FaceWay.allCases)
    func depth(_ way: FaceWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      let count = Guarded(0)
      let face = targets.face
      a.does {
        let depth = count.withLock {
          $0 += 1
          return $0
        }
        if depth > 1000 { throw CancellationError() }
        _ = try await face.check(depth)
      }
      let tooDeep = InvocationError.forwardedTooDeeply("check:", limit: 200)
      await #expect(throws: tooDeep) { try await targets.face.check(0) }
      // A message takes two steps: that of the proxy, and that of its delivery.
      let limit = way == .calls ? 200 : 100
      #expect(count.read { $0 } == limit)
      // All steps have ended.
      count.withLock { $0 = 0 }
      await #expect(throws: tooDeep) { try await targets.face.check(0) }
      #expect(count.read { $0 } == limit)
      a.does {}
      #expect(try await targets.face.check(7) == 7)
    }

    @Test("in a circle of faces are found: each target is told once", arguments: FaceWay.allCases)
    func circles(_ way: FaceWay) async throws {
      for count in 2...3 {
        let all = (0..<count).map { _ in Multicast<RunningProxy>(way.proxy) }
        for one in all {
          one.onDiagnostic = { _ in }
          for other in all where other !== one { one.add(other.face) }
        }
        for (number, one) in all.enumerated() { runner("\(number)", in: one) }
        await all[0].face.run(1)
        let told = story.take()
        #expect(Set(told).count == count && told.count < 10, "\(told)")
        withExtendedLifetime(all) {}
      }
    }

    @Test(
      "wait for no removal of their targets: it is refused, also in a child task",
      arguments: FaceWay.allCases)
    func removing(_ way: FaceWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      @Sendable func removeHere() {
        do { _ = try targets.proxy.removeAndWait(a) } catch { story.tell("\(error)") }
      }
      a.does { [story] in
        removeHere()
        do { _ = try await targets.proxy.removeAndWait(a) } catch { story.tell("\(error)") }
        async let child: Int = try targets.proxy.removeAndWait(a)
        do { _ = try await child } catch { story.tell("\(error)") }
        await withTaskGroup { group in
          group.addTask { removeHere() }
        }
      }
      _ = try await targets.face.check(1)
      #expect(
        story.take() == ["a checks 1"]
          + Array(repeating: "\(ForwardingError.wouldDeadlock)", count: 4))
      a.does { @MainActor in removeHere() }
      _ = try await targets.face.check(2)
      #expect(story.take() == ["a checks 2", "\(ForwardingError.wouldDeadlock)"])
      #expect(targets.count == 1)
    }

    @Test(
      "hold up a removal that waits on an actor, but not that of a target which came later",
      arguments: FaceWay.allCases)
    @MainActor
    func removingLater(_ way: FaceWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      let (began, goOn) = (Latch(), Latch())
      a.does { [story] in
        await began.open()
        await goOn.wait()
        story.tell("a ends")
      }
      let face = targets.face
      let message = Task { await face.run(1) }
      await began.wait()
      let later = runner("later", in: targets)
      func removeHere(_ target: Runner) throws -> Int { try targets.proxy.removeAndWait(target) }
      #expect(throws: ForwardingError.wouldDeadlock) { try removeHere(a) }
      #expect(try removeHere(later) == 1)
      #expect(targets.count == 1)
      let removal = Task { [story] in
        let count = try await targets.proxy.removeAndWait(a)
        story.tell("removed \(count)")
      }
      for _ in 0..<10 { await Task.yield() }
      story.tell("going on")
      await goOn.open()
      await message.value
      try await removal.value
      #expect(story.take() == ["a runs 1", "going on", "a ends", "removed 1"])
      // Nothing is under way any more.
      let b = runner("b", in: targets)
      await targets.face.run(2)
      #expect(try removeHere(b) == 1)
    }

    @Test("know who left out an optional requirement", arguments: FaceWay.allCases)
    func optional(_ way: FaceWay) async throws {
      let targets = running(way)
      let rested = Rested("r", story)
      runner("a", in: targets)
      await targets.face.rest(1)
      #expect(await targets.face.title(1) == "none")
      await #expect(throws: ForwardingError.nobodyAnswered("rate:")) {
        try await targets.face.rate(1)
      }
      #expect(story.take() == ["rest:", "title:", "rate:"].map { "unanswered \($0)" })
      targets.add(rested, strongly: true)
      runner("b", in: targets)
      for number in 2...3 {
        await targets.face.rest(number)
        #expect(await targets.face.title(number) == "title \(number)")
        #expect(try await targets.face.rate(number) == number)
        #expect(story.take() == ["r rests \(number)", "r rates \(number)"])
      }
      rested.runner.fails.withLock { $0 = true }
      await #expect(throws: Lame(name: "r")) { try await targets.face.rate(4) }
    }

    @Test("know it where a target asks another face meanwhile", arguments: FaceWay.allCases)
    func optionalInside(_ way: FaceWay) async throws {
      let (outer, inner) = (running(way), running(way))
      let (idle, rested) = (runner("idle", in: inner), Rested("r", story))
      outer.add(rested, strongly: true)
      let face = inner.face
      rested.runner.does { [idle] in
        await face.rest(1)
        await idle.rest(2)
        async let child: Void = idle.rest(3)
        await child
      }
      #expect(try await outer.face.rate(5) == 5)
      await outer.face.rest(6)
      #expect(
        story.take() == ["r rates 5", "unanswered rest:", "r rests 6", "unanswered rest:"])
    }

    @Test("know it of values in boxes", arguments: FaceWay.allCases)
    func boxes(_ way: FaceWay) async throws {
      let targets = Multicast<WalkingProxy>(way.proxy)
      let idle = IdleWalker()
      targets.add(Idler())
      targets.add(idle)
      for _ in 0..<2 {
        await targets.face.rest(1)
        #expect(await targets.face.title(1) == "none")
        await #expect(throws: ForwardingError.nobodyAnswered("rate:")) {
          try await targets.face.rate(1)
        }
        #expect(throws: ForwardingError.nobodyAnswered("price:")) { try targets.face.price(1) }
      }
      targets.add(Walker(story: story))
      targets.add(Idler())
      for number in 2...3 {
        await targets.face.rest(number)
        #expect(await targets.face.title(number) == "title \(number)")
        #expect(try await targets.face.rate(number) == number)
        #expect(try targets.face.price(number) == number)
        #expect(story.take() == ["rests \(number)"])
        await targets.face.step(number)
      }
      await #expect(throws: Lame(name: "walker")) { try await targets.face.rate(-1) }
      #expect(throws: Lame(name: "walker")) { try targets.face.price(-1) }
      #expect(try await targets.awaitedAnswers() == -5)
    }

    @Test("reach targets of all kinds in their order", arguments: FaceWay.allCases)
    func kinds(_ way: FaceWay) async throws {
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
      targets.block(targets.add(Runner("blocked", story), strongly: true))
      targets.add(Replaced(story), strongly: true)
      targets.add(Runner("waited", story), strongly: true, on: .blocking(queue))
      let raw = ClosureTarget()
      try raw.register("run:") { [story] (number: Int) async in story.tell("raw runs \(number)") }
      targets.proxy.add(raw, strongly: true)
      targets.add(inner.face)
      inner.add(Runner("inner", story), strongly: true)
      targets.add(Runner("z", story), strongly: true)
      MethodTable.of(Replaced.self).replace(
        "run:",
        try Implementation { (target: Replaced, number: Int) async -> Void in
          target.story.tell("replaced runs \(number)")
        })
      let names = ["a", "queued", "once", "replaced", "waited", "raw", "inner", "z"]
      await targets.face.run(1)
      #expect(story.take() == names.map { "\($0) runs 1" })
      await targets.face.run(2)
      #expect(story.take() == names.filter { $0 != "once" }.map { "\($0) runs 2" })
    }

    @Test(
      "keep what they need where all others let it go in the middle", arguments: FaceWay.allCases)
    func lifetime(_ way: FaceWay) async throws {
      let (targets, a) = (Guarded<Multicast<RunningProxy>?>(running(way)), Runner("a", story))
      let b = Runner("b", story)
      for one in [a, b] { targets.read { $0 }?.add(one, strongly: true) }
      a.does {
        await Task.yield()
        targets.withLock { $0 = nil }
        await Task.yield()
      }
      let answer = try await targets.read { $0?.face }?.check(4)
      #expect(answer == 4)
      #expect(story.take() == ["a checks 4", "b checks 4"])
    }

    @Test("of many tasks at a time do not get in each other's way", arguments: FaceWay.allCases)
    func concurrent(_ way: FaceWay) async throws {
      let targets = running(way)
      for number in 0..<4 { runner("\(number)", in: targets) }
      let rested = Rested("r", story)
      targets.add(rested, strongly: true)
      let face = targets.face
      await withTaskGroup(of: Bool.self) { group in
        for number in 0..<50 {
          group.addTask {
            if number % 10 == 3 {
              let token = targets.add(rested.runner)
              _ = try? await targets.proxy.removeAndWait(token)
            }
            return (try? await face.rate(number)) == number
          }
        }
        for await isRight in group { #expect(isRight) }
      }
    }
  }

  extension Multicast where Face == WalkingProxy {
    fileprivate func awaitedAnswers() async throws -> Int { await face.steps() }
  }

  /// A requirement that is no message, and whose values are of a size that its sender alone knows.
  @Forwardable
  protocol Finding: AnyObject, Sendable {
    func find<Value: Sendable>(_ value: Value) async -> Value?
    func choose<Value: Sendable>(_ value: Value, _ other: Value) async throws -> Value
    func pair<One: Sendable, Other: Sendable>(_ one: One, _ other: Other) async
      -> (One, Other)?
  }

  private final class Finder: Finding {
    func find<Value: Sendable>(_ value: Value) async -> Value? {
      await Task.yield()
      return value
    }
    func choose<Value: Sendable>(_ value: Value, _ other: Value) async throws -> Value {
      await Task.yield()
      if value is Never.Type { throw Lame(name: "finder") }
      return other
    }
    func pair<One: Sendable, Other: Sendable>(_ one: One, _ other: Other) async -> (One, Other)? {
      await Task.yield()
      return (one, other)
    }
  }

  @Suite("A generic requirement that is awaited", .timeLimit(.minutes(5)))
  struct AwaitedGenericTests {
    @inline(never)
    private func find<Value: Sendable & Equatable>(
      _ value: Value, _ face: any Finding, isThere: Bool
    ) async throws {
      #expect(await face.find(value) == (isThere ? value : nil))
      #expect(await face.pair(value, 7)?.0 == (isThere ? value : nil))
      if isThere {
        #expect(try await face.choose(value, value) == value)
      } else {
        await #expect(throws: (any Error).self) { try await face.choose(value, value) }
      }
    }

    @Test("has an answer of any size, from a target, or from none", arguments: [true, false])
    func sizes(_ isThere: Bool) async throws {
      struct Large: Equatable, Sendable { var a = "a", b = 1.5, c = [1, 2], d = 4, e = "e", f = 6 }
      let targets = Multicast<FindingProxy>()
      if isThere {
        targets.add(Finder(), strongly: true)
        targets.add(Finder(), strongly: true)
      }
      let face = targets.face
      try await find(5, face, isThere: isThere)
      try await find("text", face, isThere: isThere)
      try await find(Large(), face, isThere: isThere)
      try await find([Large(), Large()], face, isThere: isThere)
      #expect(await targets.face.find(Large()) == (isThere ? Large() : nil))
      let single = SingleTarget<FindingProxy>(isThere ? Finder() : nil)
      _ = await single.face.find(Large())
    }
  }
#endif
