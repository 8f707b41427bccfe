// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Testing
  import TypeEncodings

  @Forwardable
  private protocol Borrowing: AnyObject {
    func read(_ pointer: UnsafePointer<Int32>)
    func look(_ memory: UnsafeMutableRawPointer?)
    func edit(_ number: inout Int32)
  }

  private final class Borrower: Borrowing, @unchecked Sendable {
    let story: Story
    init(_ story: Story) { self.story = story }
    func read(_ pointer: UnsafePointer<Int32>) { story.tell("read \(pointer.pointee)") }
    func look(_ memory: UnsafeMutableRawPointer?) { story.tell("looked") }
    func edit(_ number: inout Int32) { story.tell("edited \(number)") }
  }

  /// Each type argument makes a class, of which nothing is known at its first call.
  private final class New<Tag>: Telling {
    let ear: Ear
    init(_ story: Story) { ear = Ear(1, story) }
  }

  @Suite("A proxy's targets on a queue or an actor")
  struct QueuedTargetTests {
    private let story = Story()
    private let queue = DispatchQueue(label: "office")
    private let refusal = ForwardingError.wouldDeadlock(.init(selector: nil, target: Ear.self))
    private static let isThere = DispatchSpecificKey<Bool>()

    /// The log after all enqueued blocks have run.
    private func heard() -> [String] {
      queue.sync {}
      return story.take()
    }

    /// A target on a lane.
    @discardableResult
    private func ear(
      _ number: Int, _ lane: DeliveryLane, in targets: Multicast<HearingProxy>, once: Bool = false
    ) -> Ear {
      let ear = Ear(number, story)
      targets.add(unchecked: ear, strongly: true, on: lane, once: once)
      return ear
    }

    /// Tells, in its next call, whether the target is called on the queue.
    private func tellPlace(of ear: Ear) {
      queue.setSpecific(key: Self.isThere, value: true)
      ear.errand = { [story] in
        story.tell("on the queue: \(DispatchQueue.getSpecific(key: Self.isThere) ?? false)")
      }
    }

    @Test(
      "a target is called on its queue, after the blocks enqueued before",
      arguments: ProxyWay.allCases)
    func order(_ way: ProxyWay) throws {
      let targets = story.hearing(way)
      let ear = ear(1, .queue(queue), in: targets)
      for _ in 0..<2 {
        queue.suspend()
        tellPlace(of: ear)
        queue.async { [story] in story.tell("before") }
        targets.proxy.hear(1)
        queue.async { [story] in story.tell("between") }
        targets.proxy.hear(2)
        queue.async { [story] in story.tell("behind") }
        #expect(story.take() == [])
        queue.resume()
        #expect(
          heard() == [
            "before", "1 hears 1", "on the queue: true", "between", "1 hears 2", "behind",
          ])
      }
      ear.isBroken = true
      try targets.proxy.mark(3, "")
      #expect(heard() == ["1 marks 3 ", "failed mark:: Lame(name: \"1\")"])
    }

    @Test(
      "the sender waits for a target on a blocking lane, and may be on its queue",
      arguments: ProxyWay.allCases)
    func waits(_ way: ProxyWay) {
      let targets = story.hearing(way)
      let ear = ear(1, .blocking(queue), in: targets)
      queue.async { [story] in story.tell("before") }
      tellPlace(of: ear)
      #expect(targets.proxy.weigh(1) == 101)
      #expect(story.take() == ["before", "1 weighs 1", "on the queue: true"])
      tellPlace(of: ear)
      queue.sync { #expect(targets.proxy.weigh(2) == 102) }
      #expect(story.take() == ["1 weighs 2", "on the queue: true"])
    }

    @Test(
      "memory that a sender lends reaches a target for which it waits, and is refused to others",
      arguments: ProxyWay.allCases)
    func borrowed(_ way: ProxyWay) {
      let (targets, waited) = (
        Multicast<BorrowingProxy>(way.untyped), Multicast<BorrowingProxy>(way.untyped)
      )
      story.listen(to: targets.untyped)
      targets.add(unchecked: Borrower(story), strongly: true, on: .queue(queue))
      waited.add(unchecked: Borrower(story), strongly: true, on: .blocking(queue))
      var number: Int32 = 5
      for _ in 1...2 {
        withUnsafeMutablePointer(to: &number) { lent in
          for proxy in [waited.proxy, targets.proxy] {
            proxy.read(lent)
            proxy.look(lent)
            proxy.edit(&lent.pointee)
          }
        }
        let told = heard()
        #expect(told.prefix(3) == ["read 5", "looked", "edited 5"])
        #expect(told.count == 6)
        for line in told.dropFirst(3) {
          #expect(line.contains("argument 2 of ") && line.contains("whose memory may be gone"))
        }
      }
    }

    @Test(
      "a removed or dead target is not called; the call retains none of its objects",
      arguments: ProxyWay.allCases)
    func gone(_ way: ProxyWay) throws {
      let targets = story.hearing(way)
      let removed = Ear(1, story)
      var dying: Ear? = Ear(2, story)
      let token = targets.add(unchecked: removed, on: .queue(queue))
      targets.add(unchecked: try #require(dying), on: .queue(queue))
      targets.proxy.hear(1)
      #expect(heard() == ["1 hears 1", "2 hears 1"])
      queue.suspend()
      targets.proxy.hear(2)
      weak let weakly = dying
      dying = nil
      #expect(weakly == nil)
      // The removal does not wait for calls that are on their way.
      #expect(ends { _ = try targets.untyped.removeAndWait(token) })
      queue.resume()
      #expect(heard() == [])
    }

    @Test("a target is not called for a deallocated proxy", arguments: ProxyWay.allCases)
    func withoutProxy(_ way: ProxyWay) {
      weak var untyped: MulticastProxy?
      do {
        let targets = story.hearing(way)
        untyped = targets.untyped
        ear(1, .queue(queue), in: targets)
        targets.proxy.hear(1)
        #expect(heard() == ["1 hears 1"])
        queue.suspend()
        targets.proxy.hear(2)
      }
      #expect(untyped == nil)
      queue.resume()
      #expect(heard() == [])
    }

    @Test("a removal that waits waits for a running target", arguments: ProxyWay.allCases)
    func removing(_ way: ProxyWay) {
      let (targets, story) = (story.hearing(way), story)
      let ear = ear(1, .queue(queue), in: targets)
      let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      ear.errand = {
        began.signal()
        goOn.wait()
        story.tell("ends")
      }
      targets.proxy.hear(1)
      began.wait()
      beginThread(after: 0.05) { goOn.signal() }
      #expect(
        ends {
          _ = try targets.untyped.removeAndWait(ear)
          story.tell("removed")
        })
      #expect(heard() == ["1 hears 1", "ends", "removed"])
    }

    @Test(
      "a target on a queue is inside of a message, and so may not wait for a removal",
      arguments: ProxyWay.allCases, [false, true])
    func inside(_ way: ProxyWay, _ isBlocking: Bool) {
      let (targets, story) = (story.hearing(way), story)
      let ear = ear(1, isBlocking ? .blocking(queue) : .queue(queue), in: targets)
      ear.errand = { [unowned ear] in
        do { try targets.untyped.removeAndWait(ear) } catch { story.tell("\(error)") }
      }
      targets.proxy.hear(1)
      #expect(heard() == ["1 hears 1", "\(refusal)"])
      // Neither the queue nor the sender is inside of it any more.
      let remove = { #expect(throws: Never.self) { try targets.untyped.removeAndWait(ear) } }
      if isBlocking { remove() } else { queue.sync(execute: remove) }
      #expect(targets.isEmpty)
    }

    private actor Desk {}
    private enum Trace { @TaskLocal static var id = 0 }

    @Test(
      "a target on an actor gets its calls in order, with the values of the tasks that sent them",
      arguments: ProxyWay.allCases, [DeliveryLane.actor(Desk()), .mainActor])
    func ofActor(_ way: ProxyWay, _ lane: DeliveryLane) async {
      let (targets, ended) = (story.hearing(way), AsyncStream<Void>.makeStream())
      let ear = ear(1, lane, in: targets)
      let (story, end) = (story, ended.continuation)
      func tell(_ number: Int) {
        story.tell("of \(Trace.id)")
        if number < 5 { ear.errand = { tell(number + 1) } } else { end.finish() }
      }
      ear.errand = { tell(1) }
      for number in 1...5 {
        Trace.$id.withValue(number) {
          targets.proxy.hear(number)
          targets.proxy.nap(number)
        }
      }
      for await _ in ended.stream {}
      // The target leaves `nap` out.
      let told = story.take().filter { !$0.contains("nap") }
      #expect(told == (1...5).flatMap { ["1 hears \($0)", "of \($0)"] })
    }

    @Test("a target is refused if its queue would wait for itself", arguments: ProxyWay.allCases)
    func circle(_ way: ProxyWay) {
      let all = (1...3).map { _ in story.hearing(way) }
      let lanes = [queue, DispatchQueue(label: "other"), queue].map { DeliveryLane.blocking($0) }
      for number in 0..<3 {
        let ear = ear(number, lanes[number], in: all[number])
        if number < 2 { ear.errand = { all[number + 1].proxy.hear(1) } }
      }
      #expect(ends { all[0].proxy.hear(1) })
      let refusal =
        "unheard hear: the wait for 'hear(_:)' of Ear on queue 'office' would never end, because its "
        + "queue or actor is waiting for this call"
      #expect(story.take() == ["0 hears 1", "1 hears 1", refusal])
    }

    @Test(
      "a target that misses its deadline is not called any more, and a once-only one is not used up",
      arguments: ProxyWay.allCases, [false, true])
    func deadline(_ way: ProxyWay, _ isAwaited: Bool) async {
      let targets = story.hearing(way)
      let ear = ear(1, .blocking(queue, deadline: .milliseconds(1)), in: targets, once: true)
      queue.suspend()
      if isAwaited { await targets.proxy.hearLater(1) } else { targets.proxy.hear(1) }
      queue.resume()
      let name = isAwaited ? "hearLater" : "hear"
      let late = "unheard \(name): '\(name)(_:)' of Ear on queue 'office' did not finish in time"
      await drain()
      #expect(story.take() == [late])
      #expect(targets.count == 1)
      targets.add(
        unchecked: ear, strongly: true, on: .blocking(queue, deadline: .seconds(1000)), once: true)
      if isAwaited { await targets.proxy.hearLater(2) } else { targets.proxy.hear(2) }
      #expect(story.take() == ["1 hears 2"])
      #expect(targets.count == 0)
    }

    /// Waits until all enqueued blocks have run.
    private func drain() async {
      await withCheckedContinuation { continuation in
        queue.async { continuation.resume() }
      }
    }

    @Test("requirements that cannot be messages are called, wherever the sender is")
    func noMessage() throws {
      let (targets, others) = (story.hearing(), story.hearing())
      let sender = DispatchQueue(label: "sender")
      ear(1, .blocking(queue), in: targets)
      // The queue of the sender is known.
      ear(2, .blocking(sender), in: others)
      let send = { try targets.proxy.lend { 7 } }
      try send()
      for queue in [sender, DispatchQueue.global(), queue] { try queue.sync(execute: send) }
      #expect(story.take() == Array(repeating: "1 hears 7", count: 4))
    }

    /// How a call reaches its target.
    enum Route: CaseIterable { case called, queued, awaited, awaitedOnQueue, concurrent }

    private func lane(of route: Route) -> DeliveryLane {
      route == .queued || route == .awaitedOnQueue ? .queue(queue) : .caller
    }

    /// A target of a class that no other call knows: each finds out anew what it leaves out.
    private func new<Tag>(_ way: ProxyWay, _ route: Route, _ tag: Tag.Type) -> any Telling {
      func new<Next>(_ number: Int, _ tag: Next.Type) -> any Telling {
        number == 0 ? New<Next>(story) : new(number - 1, [Next].self)
      }
      return new(2 * (Route.allCases.firstIndex(of: route) ?? 0) + (way == .calls ? 0 : 1), tag)
    }

    @Test(
      "a method that is replaced or removed counts from then on, and for calls that wait on a queue",
      arguments: ProxyWay.allCases, [Route.called, .queued, .awaited, .awaitedOnQueue])
    func replaced(_ way: ProxyWay, _ route: Route) async throws {
      let (targets, target, story) = (story.hearing(way), new(way, route, (Int, Int).self), story)
      let isAwaited = route == .awaited || route == .awaitedOnQueue
      let selector: Selector = isAwaited ? "hearLater:" : "hear:"
      targets.add(unchecked: target, strongly: true, on: lane(of: route))
      story.ear(2, in: targets)
      /// The log of a call, before whose turn the method changes.
      func heard(_ number: Int, _ change: () -> Void = {}) async -> Set<String> {
        if route == .queued {
          queue.suspend()
          targets.proxy.hear(number)
          change()
          queue.resume()
        } else {
          change()
          if isAwaited {
            await targets.proxy.hearLater(number)
          } else {
            targets.proxy.hear(number)
          }
        }
        await drain()
        return Set(story.take())
      }
      #expect(await heard(1) == ["1 hears 1", "2 hears 1"])
      let table = MethodTable.of(type(of: target as AnyObject))
      let method =
        isAwaited
        ? try Implementation { (_: AnyObject, number: Int) async -> Void in
          story.tell("new \(number)")
        } : try Implementation { (_: AnyObject, number: Int) in story.tell("new \(number)") }
      #expect(await heard(2) { table.replace(selector, method) } == ["new 2", "2 hears 2"])
      let told = await heard(3) { table.remove(selector) }
      // One that waits cannot be left out any more.
      let failed = told.subtracting(["2 hears 3"])
      #expect(told.contains("2 hears 3") && failed.count == (route == .queued ? 1 : 0), "\(told)")
      #expect(failed.allSatisfy { $0.contains("has no method '\(selector)'") }, "\(told)")
      _ = targets.proxy.weigh(5)
      queue.sync {}
      #expect(Set(story.take()) == ["1 weighs 5", "2 weighs 5"], "the other methods stay")
    }

    @Test(
      "an optional requirement that its class leaves out does not use up a once-only target",
      arguments: ProxyWay.allCases, Route.allCases)
    func leftOut(_ way: ProxyWay, _ route: Route) async throws {
      if route == .concurrent, way == .calls { return }
      let targets = Multicast<HearingProxy>(way.untyped)
      targets.add(
        unchecked: new(way, route, Int.self), strongly: true, on: lane(of: route), once: true)
      switch route {
      case .called, .queued:
        if route == .queued { queue.suspend() }
        for number in 1...2 { targets.proxy.nap(number) }
        for number in 3...4 { targets.proxy.hear(number) }
        if route == .queued { queue.resume() }
        await drain()
      case .awaited, .awaitedOnQueue:
        await targets.proxy.napLater(1)
        #expect(targets.count == 1)
        for number in 3...4 { await targets.proxy.hearLater(number) }
      case .concurrent:
        let nap = targets.messages.napLater
        #expect(try await nap.report(1, concurrently: true).answered == 0)
        #expect(targets.count == 1)
        _ = try await targets.messages.hearLater.all(3, concurrently: true)
      }
      #expect(story.take() == ["1 hears 3"])
      #expect(targets.count == 0)
    }
  }
#endif
