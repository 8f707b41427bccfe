// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import ForwardingTestSupport
  import Testing

  @testable import Forwarding

  @Suite("A proxy's targets on a blocking lane", .timeLimit(.minutes(60)))
  struct WaitedTargetTests: PostingTests {
    let story = Story()
    let queue = DispatchQueue(label: "office")

    @Test("a target is called on its queue while the sender waits", arguments: ProxyWay.allCases)
    func waits(_ way: ProxyWay) throws {
      let targets = posting(way)
      let (office, mark, untyped) = (Office(story), QueueMark.of(queue), targets.untyped)
      targets.add(unchecked: office, on: .blocking(queue))
      office.does { [story] _ in
        story.tell("\(mark.isCurrent) \(BlockingChain.isInside)")
        do { try untyped.removeAndWait(office) } catch { story.tell("\(error)") }
      }
      queue.async { [story] in story.tell("before") }
      #expect(targets.proxy.count(1) == 1)
      let refusal = ForwardingError.wouldDeadlock(.init(selector: nil, target: Office.self))
      #expect(story.take() == ["before", "counts 1", "true true", "\(refusal)"])
      #expect(!BlockingChain.isInside)
      office.does { _ in }
      queue.sync { #expect(targets.proxy.count(2) == 2) }
      #expect(story.take() == ["counts 2"])
    }

    @Test("the answer or error of a target is returned to its sender", arguments: ProxyWay.allCases)
    func answers(_ way: ProxyWay) throws {
      let targets = posting(way)
      let office = Office(story)
      let token = targets.add(unchecked: office, on: .blocking(queue))
      #expect(try targets.proxy.measure(4) == 4)
      #expect(throws: Lame(name: "-1")) { try targets.proxy.measure(-1) }
      #expect(throws: Lame(name: "2")) { try targets.proxy.fail(2) }
      #expect(throws: Lame(name: "plain 3")) { try targets.proxy.failPlainly(3) }
      #expect(targets.proxy.mood == "calm")
      var number = 5
      #expect(targets.proxy.change(&number) == 6)
      #expect(number == 6)
      #expect(story.take() == ["fails 2"])
      for row in postedLoans { row.send(targets.proxy) }
      #expect(story.take() == ["read 5", "wrote 5", "looked"])
      for row in postings {
        row.send(targets.proxy)
        #expect(story.take() == [row.told])
      }
      targets.suspend(token)
      #expect(try targets.proxy.measure(4) == -1)
      #expect(targets.proxy.count(4) == -1)
    }

    @Test("a target may omit an optional requirement", arguments: ProxyWay.allCases)
    func optional(_ way: ProxyWay) throws {
      let targets = posting(way)
      let (one, other) = (Office(story), Rests(story))
      targets.add(unchecked: one, on: .blocking(queue))
      for _ in 0..<2 {
        targets.proxy.rest(1)
        #expect(throws: ForwardingError.nobodyAnswered("rate:")) { try targets.proxy.rate(1) }
      }
      #expect(
        story.take() == [
          "unanswered rest:", "unanswered rate:", "unanswered rest:", "unanswered rate:",
        ])
      // Without messages, another test may give the class its table, and the method, at any moment.
      if way == .messages { #expect(MethodTable.of(Office.self).own("rest:") == nil) }
      targets.add(unchecked: other, on: .blocking(queue))
      targets.proxy.rest(2)
      #expect(try targets.proxy.rate(2) == 2)
      #expect(throws: Lame(name: "rate")) { try targets.proxy.rate(-2) }
      #expect(story.take() == ["rests 2"])
    }

    @Test("a target is refused if its queue would wait for itself", arguments: ProxyWay.allCases)
    func circle(_ way: ProxyWay) {
      let (outer, middle, inner) = (posting(way), posting(way), posting(way))
      let other = DispatchQueue(label: "other")
      let (first, second, last) = (Office(story), Office(story), Office(story))
      outer.add(unchecked: first, on: .blocking(queue))
      middle.add(unchecked: second, on: .blocking(other))
      inner.add(unchecked: last, on: .blocking(queue))
      nonisolated(unsafe) let (outerProxy, middleProxy, innerProxy) = (
        outer.proxy, middle.proxy, inner.proxy
      )
      first.does { middleProxy.tell($0) }
      second.does { innerProxy.tell($0) }
      #expect(ends { outerProxy.tell(1) })
      let refusal =
        "unheard tell: the wait for 'tell(_:)' of Office on queue 'office' would never end, because its "
        + "queue or actor is waiting for this call"
      #expect(story.take() == ["told 1", "told 1", refusal])
    }

    @Test(
      "a target that misses its deadline is not called any more, and a once-only one is not used up",
      arguments: ProxyWay.allCases)
    func deadline(_ way: ProxyWay) throws {
      let targets = posting(way)
      let office = Office(story)
      targets.add(unchecked: office, on: .blocking(queue, deadline: .milliseconds(1)), once: true)
      queue.suspend()
      targets.proxy.tell(1)
      queue.resume()
      queue.sync {}
      let late = "unheard tell: 'tell(_:)' of Office on queue 'office' did not finish in time"
      #expect(story.take() == [late])
      #expect(targets.count == 1)
      targets.add(unchecked: office, on: .blocking(queue, deadline: .seconds(1000)), once: true)
      targets.proxy.tell(1)
      #expect(story.take() == ["told 1"])
      #expect(targets.count == 0)
      targets.add(unchecked: office, on: .blocking(queue, deadline: .seconds(1000)))
      #expect(throws: Lame(name: "2")) { try targets.proxy.fail(2) }
      #expect(try targets.proxy.measure(4) == 4)
      #expect(story.take() == ["fails 2"])
    }

    @Test("requirements that cannot be messages are called, wherever the sender is")
    func noMessage() {
      let targets = posting(.calls)
      targets.add(unchecked: Office(story), strongly: true, on: .blocking(queue))
      let (sender, global) = (DispatchQueue(label: "sender"), DispatchQueue.global())
      _ = QueueMark.of(sender)
      var numbers: [Int] = []
      let send = { targets.proxy.visit { numbers.append($0) } }
      send()
      for queue in [sender, global, queue] { queue.sync(execute: send) }
      #expect(numbers == [7, 7, 7, 7])
      #expect(story.take() == [])
    }

    @Test("requirements that cannot be messages are called once")
    func once() {
      for lane in [DeliveryLane.caller, .blocking(queue)] {
        let targets = posting(.calls)
        targets.add(unchecked: Office(story), strongly: true, on: lane, once: true)
        var numbers: [Int] = []
        for _ in 0..<2 { targets.proxy.visit { numbers.append($0) } }
        #expect(numbers == [7])
        #expect(targets.count == 0)
      }
      _ = story.take()
    }
  }
#endif
