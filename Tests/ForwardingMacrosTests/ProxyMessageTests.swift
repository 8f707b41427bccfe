// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import ForwardingTestSupport
  import Invocations
  import Testing

  @Suite("Messages of a protocol to many targets")
  struct MulticastMessageTests {
    private let story = Story()
    private let targets = Multicast<HearingProxy>()
    private let ears: [Ear]

    init() {
      ears = [Ear(1, story), Ear(2, story)]
      targets.add(ears[0], strongly: true)
      targets.add(FullEar(ears[1]), strongly: true)
    }

    @Test(
      "a report has the outcomes, with typed answers, and the targets that omit the requirement")
    func report() throws {
      let report = try targets.messages.weigh.report(5)
      #expect(report.answers == [105, 205])
      #expect(report.entries.map(\.answer) == [105, 205])
      #expect(report.answered == 2)
      ears[0].isBroken = true
      let checks = try targets.messages.check.report(5)
      #expect(checks.answers == [2])
      #expect(checks.errors.map { $0 as? Lame } == [Lame(name: "1")])
      for _ in 0..<2 {
        let naps = try targets.messages.nap.report(5)
        #expect(naps.entries.map { $0.answer != nil } == [false, true])
        #expect(naps.entries.map(\.outcome.isAnswer) == [false, true])
      }
      #expect(story.take().suffix(2) == ["2 naps 5", "2 naps 5"])
    }

    @Test("a property is set on all targets, by the proxy and by a message")
    func setting() throws {
      #expect(targets.proxy.mood == nil)
      #expect(try targets.messages.setMood.all("calm").count == 2)
      #expect(ears.map(\.mood) == ["calm", "calm"])
      targets.proxy.mood = "wild"
      #expect(ears.map(\.mood) == ["wild", "wild"])
      #expect(targets.proxy.mood == "wild")
    }

    @Test(
      "an optional requirement that all targets omit is not reported, nor is one of a single target"
    )
    func nobodyHasIt() async {
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let (targets, ear) = (Multicast<HearingProxy>(), Ear(1, Story()))
        targets.add(ear)
        for proxy in [targets.proxy, SingleTarget<HearingProxy>(ear, strongly: true).proxy] {
          for number in 1...2 {
            proxy.nap(number)
            require(proxy.rest(number) == nil)
          }
        }
      }
      #expect(printedLines(result) == [])
    }

    @Test("awaited messages have all answers, one after the other or concurrently")
    func awaited() async throws {
      let check = targets.messages.checkLater
      for concurrently in [false, true] {
        #expect(try await check.all(5, concurrently: concurrently) == [1, 2])
        #expect(try await check(5, concurrently: concurrently) == 2)
        for ear in ears { ear.isBroken = true }
        #expect(try await check.report(5, concurrently: concurrently).errors.count == 2)
        for ear in ears { ear.isBroken = false }
      }
      #expect(try await check.first(5, concurrently: false) == 1)
      #expect(throws: InvocationError.self) { try check.all(5) }
    }

    @Test("a proxy has a stream of its messages")
    func stream() async throws {
      let numbers = try targets.messages.hear.calls()
      for number in 1...2 { targets.proxy.hear(number) }
      targets.removeAll()
      #expect(await numbers.reduce(into: []) { $0.append($1) } == [1, 2])
    }
  }

  @Suite("Interception of messages of a protocol")
  struct InterceptedMessageTests {
    private let story = Story()
    private let ear: Ear
    private let watched: Intercepting<HearingProxy>

    init() {
      ear = Ear(1, story)
      watched = Intercepting(ear)
    }

    @Test("a handler sees the arguments and the answer, may answer, or end or change the message")
    func handlers() throws {
      let (messages, story) = (watched.messages, story)
      messages.weigh.after { answer, number in story.tell("\(answer) for \(number)") }
      messages.hear.after { story.tell("after \($0)") }
      messages.setMood.after { story.tell($0 ?? "none") }
      messages.check.before { number in if number > 2 { throw Lame(name: "before") } }
      #expect(try watched.proxy.check(2) == 1)
      #expect(throws: Lame(name: "before")) { try watched.proxy.check(3) }
      #expect(story.take() == ["1 checks 2"])
      #expect(watched.proxy.weigh(5) == 105)
      watched.proxy.hear(6)
      watched.proxy.mood = "calm"
      #expect(story.take() == ["1 weighs 5", "105 for 5", "1 hears 6", "after 6", "calm"])
      messages.hear.around { proceed, number in try proceed(number + 1) }
      let token = messages.weigh.around { proceed, number in try proceed(number) * 10 }
      messages.rest.around { proceed, number in (try? proceed(number)) ?? -number }
      watched.proxy.hear(5)
      #expect(story.take().first == "1 hears 6")
      #expect(watched.proxy.weigh(5) == 1050)
      #expect(watched.proxy.rest(5) == -5)
      #expect(token.remove())
      #expect(watched.proxy.weigh(5) == 105)
      messages.check.after { answer, _ in if answer == 1 { throw Lame(name: "after") } }
      #expect(throws: Lame(name: "after")) { try watched.proxy.check(2) }
    }

    @Test("a handler around an async requirement awaits what it sends on")
    func awaited() async throws {
      watched.messages.checkLater.around { proceed, number in
        await Task.yield()
        return try await proceed(number + 1) + 10
      }
      #expect(try await watched.proxy.checkLater(5) == 11)
      #expect(story.take() == ["1 checks 6"])
      watched.messages.checkLater.before { number in if number > 7 { throw Lame(name: "before") } }
      await #expect(throws: Lame(name: "before")) { try await watched.proxy.checkLater(8) }
      #expect(story.take() == [])
    }

    @Test("the target is retained, or held weakly, and then a handler may answer without it")
    func gone() {
      #expect(Intercepting<HearingProxy>(Ear(1, story)).proxy.weigh(5) == 105)
      let weakly = Intercepting<HearingProxy>(Ear(1, story), strongly: false)
      #expect(weakly.proxy.weigh(5) == -1)
      weakly.messages.weigh.around { _, number in number }
      #expect(weakly.proxy.weigh(5) == 5)
    }

    @Test("handlers run without a lock; a message uses the handlers at its beginning")
    func reentrant() {
      let (untyped, added) = (watched.untyped, Guarded(0))
      untyped.before { [unowned untyped] _ in
        untyped.before { _ in added.withLock { $0 += 1 } }
      }
      for number in 0..<3 { watched.proxy.hear(number) }
      #expect(added.read { $0 } == 3)
    }
  }
#endif
