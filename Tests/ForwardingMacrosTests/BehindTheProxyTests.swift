// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import Invocations
  import Testing

  @Suite("One who answers")
  struct OneWhoAnswersTests {
    private let source = DataSource<HearingProxy>()
    private let story = Story()

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
      let late = Guarded(0)
      source.untyped.onDiagnostic = { diagnostic in
        if case .tooLate = diagnostic { late.withLock { $0 += 1 } }
      }
      source.proxy.hear(1)
      queue.sync {}
      #expect(story.take() == ["1 hears 1"])
      #expect(source.proxy.weigh(5) == 205)
      #expect(try source.messages.weigh.report(5).answers == [205])
      #expect(try source.messages.weigh.first(5) == 205)
      // The report has an entry in place of a diagnostic.
      #expect(late.read { $0 } == 2)
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
            precondition([1, 2].contains(single.proxy.total(1)))
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
            precondition(token.remove())
          } else {
            precondition(watched.proxy.total(1) == 1)
          }
        }
      }
      #expect(watched.proxy.total(2) == 2)
    }
  }
#endif
