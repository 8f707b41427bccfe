// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import ForwardingTestSupport
  import Testing

  @testable import Forwarding

  @Forwardable
  protocol Stacking {
    mutating func push(_ number: Int)
    @Optional func rest(_ number: Int)
    @Optional func rate(_ number: Int) throws -> Int
    @Otherwise(0) var sum: Int { get }
  }

  struct Stack: Stacking {
    let story: Story
    var sum = 0
    mutating func push(_ number: Int) {
      sum += number
      story.tell("sum \(sum)")
    }
  }

  @Suite("The order of a proxy's targets on a queue", .timeLimit(.minutes(60)))
  struct QueuedOrderTests: PostingTests {
    let story = Story()
    let queue = DispatchQueue(label: "office")

    @Test("a removal that waits waits for a running target", arguments: ProxyWay.allCases)
    func removing(_ way: ProxyWay) {
      let targets = posting(way)
      let office = Office(story)
      let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      office.does { [story] _ in
        began.signal()
        goOn.wait()
        story.tell("ends")
      }
      let token = targets.add(unchecked: office, strongly: true, on: .queue(queue))
      let (untyped, story) = (targets.untyped, story)
      targets.proxy.tell(1)
      began.wait()
      beginThread(after: 0.05) { goOn.signal() }
      #expect(
        ends {
          _ = try untyped.removeAndWait(token)
          story.tell("removed")
        })
      #expect(heard() == ["told 1", "ends", "removed"])
    }

    @Test(
      "a target on a queue is inside a message, and so may not wait for a removal",
      arguments: ProxyWay.allCases)
    func inside(_ way: ProxyWay) throws {
      let targets = posting(way)
      let office = Office(story)
      let (untyped, story) = (targets.untyped, story)
      let token = Guarded<ForwardingToken?>(nil)
      office.does { _ in
        story.tell("inside \(BlockingChain.isInside)")
        guard let token = token.read({ $0 }) else { return }
        do { try untyped.removeAndWait(token) } catch { story.tell("\(error)") }
      }
      let added = targets.add(unchecked: office, strongly: true, on: .queue(queue))
      token.withLock { $0 = added }
      targets.proxy.tell(1)
      let refusal = ForwardingError.wouldDeadlock(.init(selector: nil, target: Office.self))
      #expect(heard() == ["told 1", "inside true", "\(refusal)"])
      queue.sync { #expect(!BlockingChain.isInside) }
    }

    @Test("a target sends to others, each in its order", arguments: ProxyWay.allCases)
    func sending(_ way: ProxyWay) {
      let (outer, inner) = (posting(way), posting(way))
      let other = DispatchQueue(label: "other")
      let (first, second) = (Office(story), Office(story))
      outer.add(unchecked: first, on: .queue(queue))
      inner.add(unchecked: second, on: .blocking(other))
      nonisolated(unsafe) let proxy = inner.proxy
      first.does { [story] number in
        proxy.tell(10 * number)
        story.tell("counted \(proxy.count(number))")
      }
      for number in 1...3 { outer.proxy.tell(number) }
      #expect(
        heard()
          == (1...3).flatMap {
            ["told \($0)", "told \(10 * $0)", "counts \($0)", "counted \($0)"]
          })
    }

    private actor Desk {}
    private enum Trace { @TaskLocal static var id = 0 }

    @Test(
      "a target on an actor gets its calls in order, with the values of the tasks that sent them",
      arguments: ProxyWay.allCases, [DeliveryLane.actor(Desk()), .mainActor])
    func ofActor(_ way: ProxyWay, _ lane: DeliveryLane) async {
      let targets = posting(way)
      let office = Office(story)
      targets.add(unchecked: office, strongly: true, on: lane)
      await withCheckedContinuation { continuation in
        office.does { [story] number in
          story.tell("of \(Trace.id)")
          if number == 5 { continuation.resume() }
        }
        for number in 1...5 {
          Trace.$id.withValue(number) {
            targets.proxy.tell(number)
            targets.proxy.rest(number)
          }
        }
      }
      #expect(
        story.take().filter { !$0.contains("rest") }
          == (1...5).flatMap { ["told \($0)", "of \($0)"] })
    }

    @Test("a target may be a value, which changes on the queue", arguments: ProxyWay.allCases)
    func values(_ way: ProxyWay) throws {
      let targets = Multicast<StackingProxy>(way.untyped)
      story.listen(to: targets.untyped)
      targets.add(unchecked: Stack(story: story), on: .queue(queue))
      targets.add(unchecked: Stack(story: story), on: .blocking(queue))
      for number in 1...2 {
        targets.proxy.push(number)
        targets.proxy.rest(number)
      }
      #expect(throws: ForwardingError.nobodyAnswered("rate:")) { try targets.proxy.rate(1) }
      #expect(targets.proxy.sum == 3)
      #expect(
        heard().filter { $0.hasPrefix("sum") } == ["sum 1", "sum 1", "sum 3", "sum 3"])
    }

    @Test(
      "a target is called in its order among targets of all kinds", arguments: ProxyWay.allCases)
    func kinds(_ way: ProxyWay) {
      let targets = posting(way)
      let tell = { (name: String) in
        let office = Office(Story())
        office.does { [story] number in story.tell("\(name) \(number)") }
        return office
      }
      targets.add(unchecked: tell("queued"), strongly: true, on: .queue(queue))
      targets.add(unchecked: tell("waited"), strongly: true, on: .blocking(queue))
      targets.add(tell("called"), strongly: true)
      targets.add(unchecked: tell("once"), strongly: true, on: .queue(queue), once: true)
      targets.add(unchecked: tell("first"), strongly: true, on: .queue(queue), priority: 1)
      targets.suspend(targets.add(unchecked: tell("blocked"), strongly: true, on: .queue(queue)))
      targets.add(
        unchecked: tell("late"), strongly: true, on: .blocking(queue, deadline: .seconds(60)))
      targets.proxy.tell(1)
      #expect(
        heard() == [
          "first 1", "queued 1", "waited 1", "called 1", "once 1", "late 1",
        ])
      targets.proxy.tell(2)
      #expect(heard() == ["first 2", "queued 2", "waited 2", "called 2", "late 2"])
    }
  }
#endif
