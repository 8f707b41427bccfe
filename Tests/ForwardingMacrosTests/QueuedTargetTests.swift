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
    func write(_ pointer: UnsafeMutablePointer<Int32>)
    func look(_ memory: UnsafeRawPointer?)
  }

  private final class Borrower: Borrowing, @unchecked Sendable {
    let story: Story
    init(_ story: Story) { self.story = story }
    func read(_ pointer: UnsafePointer<Int32>) { story.tell("read \(pointer.pointee)") }
    func write(_ pointer: UnsafeMutablePointer<Int32>) { story.tell("wrote \(pointer.pointee)") }
    func look(_ memory: UnsafeRawPointer?) { story.tell("looked") }
  }

  /// Memory that a sender lends.
  private let loans: [(told: String, send: @Sendable (any Borrowing) -> Void)] = [
    ("read 5", { proxy in withUnsafePointer(to: 5) { proxy.read($0) } }),
    (
      "wrote 5",
      { proxy in
        var number: Int32 = 5
        withUnsafeMutablePointer(to: &number) { proxy.write($0) }
      }
    ),
    ("looked", { proxy in withUnsafePointer(to: 5) { proxy.look(UnsafeRawPointer($0)) } }),
  ]

  /// Each type argument makes a class, of which nothing is known at its first call.
  private final class New<Tag>: Telling {
    let ear: Ear
    init(_ story: Story) { ear = Ear(1, story) }
  }

  @Suite("A proxy's targets on a queue or an actor", .timeLimit(.minutes(60)))
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
      var sum = 5
      targets.proxy.add(1, to: &sum)
      #expect(sum == 6)
    }

    @Test(
      "memory that a sender lends reaches a target for which it waits, and is refused to others",
      arguments: loans.indices, ProxyWay.allCases)
    func borrowed(_ row: Int, _ way: ProxyWay) throws {
      let told = Guarded<[any Error]>([])
      let (targets, waited) = (
        Multicast<BorrowingProxy>(way.untyped), Multicast<BorrowingProxy>(way.untyped)
      )
      targets.onDiagnostic = { diagnostic in
        switch diagnostic {
        case .unheard(_, let error), .failed(_, _, let error): told.withLock { $0.append(error) }
        default: break
        }
      }
      targets.add(unchecked: Borrower(story), strongly: true, on: .queue(queue))
      waited.add(unchecked: Borrower(story), strongly: true, on: .blocking(queue))
      for count in 1...2 {
        loans[row].send(targets.proxy)
        #expect(heard() == [])
        #expect(told.read { $0.count } == count)
        loans[row].send(waited.proxy)
        #expect(story.take() == [loans[row].told])
      }
      for error in told.read({ $0 }) {
        guard case ForwardingError.borrowedArgument(_, 2, _) = error else {
          Issue.record(error)
          continue
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
      // While the sender waits for the last target, the first is removed before its turn.
      targets.removeAll()
      let again = targets.add(unchecked: removed, on: .queue(queue))
      ear(3, .blocking(queue), in: targets)
      queue.suspend()
      queue.async { targets.remove(again) }
      beginThread(after: 0.05) { [queue] in queue.resume() }
      targets.proxy.hear(3)
      #expect(heard() == ["3 hears 3"])
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

    @Test("a target sends to others, each in its order", arguments: ProxyWay.allCases)
    func sending(_ way: ProxyWay) {
      let (outer, inner) = (story.hearing(way), story.hearing(way))
      let first = ear(1, .queue(queue), in: outer)
      ear(2, .blocking(DispatchQueue(label: "other")), in: inner)
      queue.suspend()
      func send(_ number: Int) {
        inner.proxy.hear(number)
        story.tell("weight \(inner.proxy.weigh(number))")
        if number < 3 { first.errand = { send(number + 1) } }
      }
      first.errand = { send(1) }
      for number in 1...3 { outer.proxy.hear(number) }
      queue.resume()
      let told = (1...3).map {
        ["1 hears \($0)", "2 hears \($0)", "2 weighs \($0)", "weight \(200 + $0)"]
      }
      #expect(heard() == told.flatMap { $0 })
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

    @Test("requirements that cannot be messages are called, wherever the sender is, and once")
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
      targets.removeAll()
      ear(3, .blocking(queue), in: targets, once: true)
      for _ in 0..<2 { try send() }
      #expect(story.take().filter { $0.hasPrefix("3") } == ["3 hears 7"])
      #expect(targets.count == 0)
    }

    @Test(
      "a once-only target that adds itself again on its queue is called again",
      arguments: ProxyWay.allCases)
    func again(_ way: ProxyWay) {
      let (targets, full) = (story.hearing(way), FullEar(1, story))
      func add() {
        targets.add(unchecked: full, strongly: true, on: .queue(queue), once: true)
        full.ear.errand = add
      }
      add()
      for number in 1...6 {
        if number < 4 { targets.proxy.nap(number) } else { targets.proxy.hear(number) }
        queue.sync {}
      }
      full.ear.errand = nil
      #expect(story.take() == (1...6).map { "1 \($0 < 4 ? "naps" : "hears") \($0)" })
      #expect(targets.count == 1)
    }

    @Test(
      "a once-only target that is added again between a call and its turn gets the call",
      arguments: ProxyWay.allCases, [false, true])
    func addedAgain(_ way: ProxyWay, _ isBlocking: Bool) {
      let lane = isBlocking ? DeliveryLane.blocking(queue) : .queue(queue)
      let (targets, first) = (story.hearing(way), Ear(1, story))
      let second = ear(2, lane, in: targets, once: true)
      targets.add(first, strongly: true, priority: 1)
      first.errand = { targets.add(unchecked: second, strongly: true, on: lane, once: true) }
      targets.proxy.hear(1)
      #expect(heard() == ["1 hears 1", "2 hears 1"])
      #expect(targets.count == 1)
    }

    @Test(
      "a method that is replaced or removed while a call waits on a queue is not called",
      arguments: ProxyWay.allCases)
    func replaced(_ way: ProxyWay) throws {
      let targets = story.hearing(way)
      let ear: any Telling = way == .calls ? New<(Self, Int)>(story) : New<(Self, String)>(story)
      targets.add(unchecked: ear, strongly: true, on: .queue(queue))
      targets.proxy.hear(1)
      #expect(heard() == ["1 hears 1"])
      let (table, story) = (MethodTable.of(type(of: ear as AnyObject)), story)
      queue.suspend()
      targets.proxy.hear(2)
      table.replace(
        "hear:", try Implementation { (_: AnyObject, number: Int) in story.tell("new \(number)") })
      targets.proxy.hear(3)
      queue.resume()
      #expect(heard() == ["new 2", "new 3"])
      queue.suspend()
      targets.proxy.hear(4)
      table.remove("hear:")
      queue.resume()
      let unknown = InvocationError.unrecognizedSelector(
        "hear:", type: SwiftType(type(of: ear as AnyObject)), nearest: nil)
      #expect(heard() == ["failed hear: \(unknown)"])
    }

    /// How a call reaches its target.
    enum Route: CaseIterable { case called, queued, awaited, awaitedOnQueue, concurrent }

    /// A target of a class that no other call knows: each finds out anew what it leaves out.
    private func new<Tag>(_ number: Int, _ tag: Tag.Type = Int.self) -> any Telling {
      number == 0 ? New<Tag>(story) : new(number - 1, [Tag].self)
    }

    @Test(
      "an optional requirement that its class leaves out does not use up a once-only target",
      arguments: ProxyWay.allCases, Route.allCases)
    func leftOut(_ way: ProxyWay, _ route: Route) async throws {
      if route == .concurrent, way == .calls { return }
      let isQueued = route == .queued || route == .awaitedOnQueue
      let number = 2 * (Route.allCases.firstIndex(of: route) ?? 0) + (way == .calls ? 0 : 1)
      let targets = Multicast<HearingProxy>(way.untyped)
      targets.add(
        unchecked: new(number), strongly: true, on: isQueued ? .queue(queue) : .caller, once: true)
      switch route {
      case .called, .queued:
        if isQueued { queue.suspend() }
        for number in 1...2 { targets.proxy.nap(number) }
        for number in 3...4 { targets.proxy.hear(number) }
        if isQueued { queue.resume() }
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
