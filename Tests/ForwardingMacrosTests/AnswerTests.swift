// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Invocations
  import Synchronization
  import Testing

  @Forwardable
  protocol Storing: AnyObject {
    func value(_ key: Int) throws -> Any
    func found(_ key: Int) -> Any?
    func store() throws
  }

  @Suite("Answers of several targets, and of proxies that are targets")
  struct AnswerTests {
    private let story = Story()
    private let source = DataSource<HearingProxy>()

    private func targets(_ numbers: Int...) -> Multicast<HearingProxy> {
      let targets = Multicast<HearingProxy>()
      for number in numbers { story.ear(number, in: targets) }
      return targets
    }

    /// Tells which answers of a multicast are lost.
    private func lost(by targets: Multicast<HearingProxy>) -> Story {
      let lost = Story()
      targets.onDiagnostic = { diagnostic in
        switch diagnostic {
        case .overruled(let token, let selector): lost.tell("overruled \(token.type) \(selector)")
        case .tooLate(let token, let selector): lost.tell("late \(token.type) \(selector)")
        default: break
        }
      }
      return lost
    }

    @Test("an answer that a later one overrules is told, unless both are equal or combined")
    func overruled() {
      let targets = targets(1, 2, 2)
      let lost = lost(by: targets)
      #expect(targets.proxy.weigh(5) == 205)
      #expect(targets.proxy.total(1) == 5)
      #expect(lost.take() == ["overruled Ear weigh:"])
    }

    @Test(
      "a target on a queue answers too late, which is told, also if it was added without its protocol",
      arguments: [false, true])
    func tooLate(isAddedAgain: Bool) {
      let (targets, queue) = (Multicast<HearingProxy>(), DispatchQueue(label: "late"))
      let full = FullEar(1, story)
      // Without its protocol, the proxy refuses questions to a queue.
      if isAddedAgain { targets.untyped.add(full, on: .queue(queue)) }
      targets.add(unchecked: full, strongly: true, on: .queue(queue))
      story.ear(2, in: targets)
      let lost = lost(by: targets)
      #expect(targets.proxy.weigh(5) == 205)
      #expect(lost.take() == ["late FullEar weigh:"])
      queue.sync {}
      #expect(Set(story.take()) == ["1 weighs 5", "2 weighs 5"])
    }

    @Test("an answer that comes too late is an event where nobody listens")
    func tooLateEvent() async {
      await #expect(processExitsWith: .success) {
        let told = Guarded<[String]>([])
        ForwardingEvent.destination = .handler { event in
          let type = event.type.map { "\($0)" } ?? ""
          told.withLock { $0.append("\(event.kind) \(type) \(event.selector?.name ?? "")") }
        }
        let (targets, ear) = (Multicast<HearingProxy>(), Ear(1, Story()))
        targets.add(unchecked: ear, on: .queue(DispatchQueue(label: "late")))
        _ = targets.proxy.weigh(5)
        let events = told.read { $0 }
        require(events == ["lostAnswer Ear weigh:"], "\(events)")
      }
    }

    @Test("a multicast says what happens where nothing answers; a result of any type is no zero")
    func unanswered() throws {
      let stores = Multicast<StoringProxy>()
      try stores.proxy.store()
      stores.whenNobodyAnswers = .throw
      #expect(throws: ForwardingError.nobodyAnswered("store")) { try stores.proxy.store() }
      stores.whenNobodyAnswers = .zero
      #expect(throws: ForwardingError.nobodyAnswered("value:")) { try stores.proxy.value(1) }
      #expect(stores.proxy.found(1) == nil)
    }

    @Test("a closure takes part for one requirement, until its token removes it")
    func closure() throws {
      let (targets, story) = (Multicast<HearingProxy>(), story)
      let token = targets.on(\.mark) { number, text in story.tell("\(number) \(text)") }
      targets.on(\.weigh, once: true) { 2 * $0 }
      try targets.proxy.mark(1, "a")
      #expect(targets.proxy.weigh(5) == 10)
      #expect(targets.proxy.weigh(5) == -1, "it was for one message")
      #expect(token.remove())
      try targets.proxy.mark(2, "b")
      #expect(story.take() == ["1 a"])
    }

    /// A proxy with a handler that passes an error of the target on.
    private func watched(_ ear: Ear) -> Intercepting<HearingProxy> {
      let watched = Intercepting<HearingProxy>(ear)
      watched.messages.guess.around { proceed, number in try proceed(number) }
      return watched
    }

    @Test(
      "a proxy without an answer lets the next target answer, as an '@Otherwise' is none; behind handlers as well"
    )
    func noAnswer() async {
      let single = SingleTarget<HearingProxy>(Ear(1, story), strongly: true)
      let (watched, one) = (watched(Ear(1, story)), targets(1))
      let (none, source) = (targets(), DataSource<HearingProxy>())
      let rows: [(proxy: any Hearing, weight: Int)] = [
        (watched.proxy, 105), (single.proxy, 105), (one.proxy, 105), (none.proxy, 205),
        (source.proxy, 205),
      ]
      for (proxy, weight) in rows {
        let asked = DataSource<HearingProxy>()
        asked.add(proxy)
        asked.add(FullEar(2, story), strongly: true)
        #expect(asked.targets.count == 2 && asked.contains(proxy))
        for _ in 0..<2 { #expect(asked.proxy.guess(5) == 205) }
        #expect(asked.proxy.weigh(5) == weight)
        #expect(await asked.proxy.weighLater(5) == weight)
        #expect(asked.remove(proxy) == 1)
        #expect(asked.count == 1)
      }
    }

    @Test("an answer wins over a failure, also through a proxy in front of another")
    func failing() async throws {
      let inner = targets(2)
      inner.on(\.weigh) { _ in throw Lame(name: "closure") }
      let failing = ClosureTarget()
      try failing.register("weighLater:") { (_: Int) throws -> Int in throw Lame(name: "raw") }
      inner.untyped.add(failing, strongly: true)
      let errors = Mutex(0)
      inner.onDiagnostic = { if case .unheard = $0 { errors.withLock { $0 += 1 } } }
      let outer = Multicast<HearingProxy>()
      outer.add(inner.proxy)
      for proxy in [inner.proxy, outer.proxy, SingleTarget<HearingProxy>(outer.proxy).proxy] {
        #expect(proxy.weigh(5) == 205)
        #expect(await proxy.weighLater(5) == 205)
      }
      #expect(errors.withLock { $0 } == 6)
    }

    @Test("answers are combined in each proxy of a chain, and in messages, whatever the rule is")
    func combined() async throws {
      let (inner, source, asked) = (targets(1, 2, 3), DataSource<HearingProxy>(), targets())
      let single = SingleTarget<HearingProxy>(inner.proxy)
      let outer = Multicast<HearingProxy>()
      outer.add(single.proxy)
      story.ear(10, in: outer)
      for number in [5, 7] { story.ear(number, in: source) }
      asked.add(source.proxy)
      let totals = [
        (inner.proxy, 6), (single.proxy, 6), (outer.proxy, 16), (source.proxy, 5),
        (asked.proxy, 5), (Multicast<HearingProxy>().proxy, 0),
      ]
      for rule in [ResultRule.last, .first] {
        for multicast in [inner, outer, asked] { multicast.resultRule = rule }
        for (proxy, total) in totals {
          #expect(proxy.total(1) == total)
          #expect(await proxy.totalLater(1) == total)
        }
      }
      #expect(try Message<Int, Int>("total:")(1, on: outer.untyped) == 16)
      for concurrently in [false, true] {
        #expect(try await outer.messages.totalLater(1, concurrently: concurrently) == 16)
      }
      let (deaf, total) = (Multicast<HearingProxy>(), try Message<Int, Int>("total:"))
      #expect(throws: ForwardingError.nobodyAnswered("total:")) { try total(1, on: deaf.untyped) }
      let lame = ClosureTarget()
      try lame.register("total:") { (_: Int) throws -> Int in throw Lame(name: "total") }
      deaf.untyped.add(lame)
      #expect(throws: Lame(name: "total")) { try total(1, on: deaf.untyped) }
    }

    // MARK: One who answers

    @Test("the fallback is asked if no target answers, also for what cannot be a message")
    func fallback() async throws {
      let fallback = FullEar(9, story)
      source.fallback = fallback
      #expect(source.fallback === fallback)
      try source.proxy.lend { 1 }
      await source.proxy.lendLater(2)
      #expect(story.take() == ["9 hears 1", "9 hears 2"])
      let first = Ear(1, story)
      source.add(first, priority: .min)
      source.proxy.hear(3)
      try source.proxy.lend { 4 }
      #expect(try source.proxy.check(5) == 1)
      #expect(source.proxy.rest(6) == 6)
      #expect(story.take() == ["1 hears 3", "1 hears 4", "1 checks 5", "9 rests 6"])
      source.remove(first)
      #expect(try source.proxy.check(7) == 9)
      source.setFallback(Ear(8, story), strongly: true)
      for _ in 0..<2 { #expect(source.proxy.rest(8) == nil) }
      source.setFallback(nil)
      #expect(source.proxy.weigh(9) == -1)
      #expect(throws: ForwardingError.nobodyAnswered("check:")) { try source.proxy.check(9) }
    }

    @Test("an error is the answer: neither the next target nor the fallback is asked")
    func errors() {
      let ears = (1...3).map { Ear($0, story) }
      defer { withExtendedLifetime(ears) {} }
      ears[0].isBroken = true
      for ear in ears[..<2] { source.add(ear) }
      source.setFallback(ears[2])
      #expect(throws: Lame(name: "1")) { try source.proxy.check(1) }
      #expect(throws: Lame(name: "1")) { try source.proxy.mark(2, "") }
      #expect(story.take() == ["1 checks 1", "1 marks 2 "])
    }

    @Test("a target on a queue gets what has no result; the next one answers questions")
    func queue() throws {
      let queue = DispatchQueue(label: "questions")
      let ears = (1...3).map { Ear($0, story) }
      source.add(unchecked: ears[0], on: .queue(queue))
      source.add(ears[1])
      source.setFallback(ears[2])
      let lost = lost(by: source)
      source.proxy.hear(1)
      queue.sync {}
      #expect(story.take() == ["1 hears 1"])
      #expect(source.proxy.weigh(5) == 205)
      #expect(try source.messages.weigh.report(5).answers == [205])
      #expect(try source.messages.weigh.first(5) == 205)
      // The report has an entry in place of a diagnostic.
      #expect(lost.take() == ["late Ear weigh:", "late Ear weigh:"])
      queue.sync { withExtendedLifetime(ears) {} }
    }

    @Test("a target that dies at once is reported, and so is one that a new target has replaced")
    func died() throws {
      let (single, last) = (SingleTarget<HearingProxy>(Ear(1, story)), Ear(4, story))
      story.listen(to: single.untyped)
      #expect(throws: ForwardingError.targetGone("check:")) { try single.proxy.check(1) }
      #expect(Set(story.take()) == ["unreached Ear", "unanswered check:"])
      single.setTarget(Ear(2, story), strongly: true)
      #expect(try single.proxy.check(2) == 2)
      single.target = last
      #expect(single.target === last)
      #expect(single.count == 1)
      #expect(try single.proxy.check(3) == 4)
      single.add(Ear(5, story), strongly: true, once: true)
      #expect(try single.proxy.check(4) == 5)
      #expect(single.target == nil)
      #expect(story.take() == ["2 checks 2", "4 checks 3", "5 checks 4"])
      single.setTarget(Ear(6, story), strongly: true)
      single.target = nil
      #expect(single.isEmpty)
    }
  }

  @Suite("Single targets and handlers, used by several threads")
  struct ThreadsBehindTheProxyTests {
    private let story = Story()

    @Test("one thread may replace the target while others call it")
    func replacing() {
      let ears = (1...2).map { Ear($0, story) }
      let single = SingleTarget<HearingProxy>(ears[0])
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for number in 0..<500 {
          if thread == 0 {
            single.target = ears[number % 2]
          } else {
            if ![1, 2].contains(single.proxy.total(1)) { Issue.record("another answer") }
          }
        }
      }
      #expect(single.target === ears[1])
    }

    @Test("one thread may add handlers while others send")
    func handlers() {
      let (watched, count) = (Intercepting<HearingProxy>(Ear(1, story)), Guarded(0))
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for _ in 0..<200 {
          if thread == 0 {
            let token = watched.untyped.before { _ in count.withLock { $0 += 1 } }
            if !token.remove() { Issue.record("the handler is gone") }
          } else {
            if watched.proxy.total(1) != 1 { Issue.record("another answer") }
          }
        }
      }
      #expect(watched.proxy.total(2) == 2)
    }
  }

  @Suite("What happens after an error")
  struct ErrorRuleTests {
    private struct Way: CustomTestStringConvertible, Sendable {
      let testDescription: String
      var lane = DeliveryLane.caller
      var isOnce = false
      var isWatched = false
      /// Whether its sender gets the other errors, too.
      var isReport = false
      let send: @Sendable (Multicast<HearingProxy>) async throws -> Void
    }

    private static let ways: [Way] = [
      Way(testDescription: "a requirement") { try $0.proxy.mark(1, "") },
      Way(testDescription: "a requirement with a result") { _ = try $0.proxy.check(1) },
      Way(testDescription: "an awaited requirement") { _ = try await $0.proxy.checkLater(1) },
      Way(testDescription: "a requirement that is no message") { try $0.proxy.lend { 1 } },
      Way(testDescription: "once-only targets", isOnce: true) { try $0.proxy.mark(1, "") },
      Way(testDescription: "queues that block", lane: .blocking(DispatchQueue(label: "rules"))) {
        try $0.proxy.mark(1, "")
      },
      Way(testDescription: "a proxy that watches", isWatched: true) { try $0.proxy.mark(1, "") },
      Way(testDescription: "a message by its selector") {
        _ = try Message<Int, Int>("check:")(1, on: $0.untyped)
      },
      Way(testDescription: "all answers") { _ = try $0.messages.check.all(1) },
      Way(testDescription: "a report", isReport: true) {
        if let error = try $0.messages.mark.report(1, "").errors.first { throw error }
      },
      Way(testDescription: "a report of answers", isReport: true) {
        if let error = try $0.messages.check.report(1).errors.first { throw error }
      },
      Way(testDescription: "awaited answers") {
        _ = try await $0.messages.checkLater.all(1, concurrently: false)
      },
    ]

    @Test("the first error ends the delivery at once, or after all targets", arguments: ways)
    private func rules(way: Way) async throws {
      // The listener is told of the other errors.
      let all = ["1", "2", "3"] + (way.isReport ? [] : ["failed"])
      for (rule, expected) in [(ErrorRule.afterAll, all), (.atOnce, ["1", "2"])] {
        let (story, ways) = (Story(), way.isWatched ? ProxyWay.messages : .calls)
        let targets = Multicast<HearingProxy>(ways.untyped)
        targets.errorRule = rule
        #expect(targets.errorRule == rule)
        for number in 1...3 {
          let ear = Ear(number, story)
          ear.isBroken = number > 1
          targets.add(unchecked: ear, strongly: true, on: way.lane, once: way.isOnce)
        }
        story.listen(to: targets.untyped)
        await #expect(throws: Lame(name: "2")) { try await way.send(targets) }
        #expect(story.take().map { String($0.prefix { $0 != " " }) } == expected, "\(rule)")
      }
    }

    @Test(
      "the rule is apart from the others of a multicast; who was left out is reported as not called"
    )
    func others() throws {
      let (targets, story) = (Multicast<HearingProxy>(), Story())
      story.ear(1, in: targets).isBroken = true
      story.ear(2, in: targets)
      for results in [ResultRule.first, .last] {
        for errors in [ErrorRule.afterAll, .atOnce] {
          (targets.resultRule, targets.errorRule) = (results, errors)
          #expect(targets.resultRule == results && targets.errorRule == errors)
          let report = try targets.messages.check.report(1)
          let last = report.entries.map { "\($0.outcome)" }.last
          #expect(last == (errors == .atOnce ? "notCalled" : "answered"))
        }
      }
    }
  }

  @Suite("Visiting the targets of a multicast")
  struct VisitingTests {
    private let story = Story()

    @Test(
      "targets on a queue are not visited, and a visit that ends early uses no later one up",
      arguments: ProxyWay.allCases)
    func visits(_ way: ProxyWay) {
      let (targets, queue) = (story.hearing(way), DispatchQueue(label: "visits"))
      targets.add(unchecked: Ear(4, story), strongly: true, on: .queue(queue))
      targets.add(unchecked: Ear(5, story), strongly: true, on: .blocking(queue))
      for number in 1...2 { story.ear(number, in: targets) }
      targets.add(Ear(3, story), strongly: true, once: true)
      #expect(targets.first { $0.total(1) == 2 }?.total(1) == 2)
      #expect(!targets.allSatisfy { $0.total(1) == 1 })
      var visits = 0
      #expect(throws: Lame(name: "visitor")) {
        try targets.forEach { _ in
          visits += 1
          throw Lame(name: "visitor")
        }
      }
      #expect(visits == 1)
      #expect(throws: Lame(name: "visitor")) {
        try targets.first { _ in throw Lame(name: "visitor") }
      }
      #expect(targets.count == 5)
      #expect(targets.map { $0.total(1) } == [1, 2, 3])
    }
  }
#endif
