// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
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

    private func targets(_ numbers: Int...) -> Multicast<HearingProxy> {
      let targets = Multicast<HearingProxy>()
      for number in numbers { story.ear(number, in: targets) }
      return targets
    }

    @Test("an answer that a later one overrules is told, unless both are equal or combined")
    func overruled() {
      let targets = targets(1, 2, 2)
      let told = Guarded<[String]>([])
      targets.onDiagnostic = { event in
        if case .overruled(let token, let selector) = event {
          told.withLock { $0.append("\(token.type) \(selector)") }
        }
      }
      #expect(targets.proxy.weigh(5) == 205)
      #expect(told.read { $0 } == ["Ear weigh:"])
      #expect(targets.proxy.total(1) == 5)
      #expect(told.read { $0.count } == 1)
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
      let told = Guarded<[String]>([])
      targets.onDiagnostic = { event in
        if case .tooLate(let token, let selector) = event {
          told.withLock { $0.append("\(token.type) \(selector)") }
        }
      }
      #expect(targets.proxy.weigh(5) == 205)
      #expect(told.read { $0 } == ["FullEar weigh:"])
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

    @Test("a multicast says what a requirement without a result does where nothing answers")
    func unanswered() throws {
      let stores = Multicast<StoringProxy>()
      try stores.proxy.store()
      stores.whenNobodyAnswers = .throw
      #expect(throws: ForwardingError.nobodyAnswered("store")) { try stores.proxy.store() }
    }

    @Test("a result of any type is never taken for an answer that nobody gave")
    func anyResult() {
      let stores = Multicast<StoringProxy>()
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

    @Test("the '@Otherwise' of a proxy without targets is not an answer")
    func empty() async {
      let (many, source) = (Multicast<HearingProxy>(), DataSource<HearingProxy>())
      let single = SingleTarget<HearingProxy>()
      for proxy in [many.proxy, source.proxy, single.proxy] {
        let asked = DataSource<HearingProxy>()
        asked.add(proxy)
        story.ear(2, in: asked)
        #expect(asked.targets.count == 2)
        #expect(asked.contains(proxy))
        if proxy !== single.proxy {
          #expect(asked.proxy.weigh(5) == 205)
          #expect(await asked.proxy.weighLater(5) == 205)
        }
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
    }

    @Test(
      "a target that leaves a requirement out lets the next one answer, behind handlers as well")
    func leftOut() {
      let watched = Intercepting<HearingProxy>(Ear(1, story))
      let single = SingleTarget<HearingProxy>(Ear(1, story), strongly: true)
      let many = targets(1)
      for proxy in [watched.proxy, single.proxy, many.proxy] {
        let asked = DataSource<HearingProxy>()
        asked.add(proxy)
        asked.add(FullEar(2, story), strongly: true)
        for _ in 0..<2 { #expect(asked.proxy.guess(5) == 205) }
        #expect(asked.proxy.weigh(5) == 105)
      }
    }

    @Test("a diagnostic names the type of its target")
    func diagnosed() throws {
      final class Failing: MethodDeclaring, Sendable {
        static func declareMethods(_ methods: MethodDeclarations) {
          methods.register("weigh:") { (_: Failing, _: Int) throws -> Int in throw Lame(name: "") }
        }
      }
      let many = Multicast<HearingProxy>()
      let told = Guarded<[String]>([])
      many.onDiagnostic = { diagnostic in
        if case .failed(let token, _, _) = diagnostic {
          told.withLock { $0.append("\(token.type)") }
        }
      }
      let first = many.untyped.add(Failing(), strongly: true)
      let second = many.untyped.add(Failing(), strongly: true)
      #expect(first != second)
      #expect(first.type == SwiftType(Failing.self))
      #expect("\(first)".hasPrefix("Failing #"))
      #expect(many.proxy.weigh(1) == -1)
      // The first error is that of the requirement, which is `unheard`.
      #expect(told.read { $0 } == ["Failing"])
    }
  }
#endif
