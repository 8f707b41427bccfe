// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import Testing

  @Forwardable
  private protocol Ringing: AnyObject, Sendable {
    @Optional func idle(_ number: Int)
    @Optional func idleLater(_ number: Int) async
    func ring(_ number: Int)
    func ringLater(_ number: Int) async
    func fail() throws
  }

  private struct Broken: Error {}

  /// Leaves out the optional requirement.
  private class Bell: Ringing, @unchecked Sendable {
    let story: Story
    init(_ story: Story) { self.story = story }
    func ring(_ number: Int) { story.tell("rings \(number)") }
    func ringLater(_ number: Int) async { story.tell("rings \(number)") }
    func fail() throws { throw Broken() }
  }

  /// Each test finds out anew that a class leaves out a requirement.
  private final class OtherBell<Tag>: Bell, @unchecked Sendable {}

  /// Leaves out nothing.
  private final class FullBell: Ringing, @unchecked Sendable {
    let story: Story
    let rung = Guarded<@Sendable () -> Void>({})
    init(_ story: Story) { self.story = story }
    private func tell(_ line: String) {
      story.tell(line)
      rung.read { $0 }()
    }
    func idle(_ number: Int) { tell("idle \(number)") }
    func idleLater(_ number: Int) async { story.tell("idle \(number)") }
    func ring(_ number: Int) { tell("rings \(number)") }
    func ringLater(_ number: Int) async { story.tell("rings \(number)") }
    func fail() throws { throw Broken() }
  }

  @Suite("A once-only registration is used by the first call that its target answers")
  struct OnceTests {
    private let story = Story()
    private let queue = DispatchQueue(label: "once")

    private func ringing(
      _ way: ProxyWay, _ bell: any Ringing & Sendable, on lane: DeliveryLane = .caller
    ) -> Multicast<RingingProxy> {
      let targets = Multicast<RingingProxy>(way.untyped)
      targets.add(bell, strongly: true, on: lane, once: true)
      return targets
    }

    /// How a call reaches its target.
    enum Route: CaseIterable { case called, queued, awaited, awaitedOnQueue, concurrent }

    /// A bell of a class that no other call knows: each finds out anew what it leaves out.
    private func bell<Tag>(_ number: Int, _ tag: Tag.Type = Int.self) -> Bell {
      number == 0 ? OtherBell<Tag>(story) : bell(number - 1, [Tag].self)
    }

    @Test(
      "an optional requirement that its class leaves out does not use it up",
      arguments: ProxyWay.allCases, Route.allCases)
    func leftOut(_ way: ProxyWay, _ route: Route) async throws {
      if route == .concurrent, way == .calls { return }
      let isQueued = route == .queued || route == .awaitedOnQueue
      let number = 2 * (Route.allCases.firstIndex(of: route) ?? 0) + (way == .calls ? 0 : 1)
      let targets = ringing(way, bell(number), on: isQueued ? .queue(queue) : .caller)
      switch route {
      case .called, .queued:
        if isQueued { queue.suspend() }
        for number in 1...2 { targets.proxy.idle(number) }
        for number in 3...4 { targets.proxy.ring(number) }
        if isQueued { queue.resume() }
        queue.sync {}
      case .awaited, .awaitedOnQueue:
        await targets.proxy.idleLater(1)
        #expect(targets.count == 1)
        for number in 3...4 { await targets.proxy.ringLater(number) }
      case .concurrent:
        let idle = targets.messages.idleLater
        #expect(try await idle.report(1, concurrently: true).answered == 0)
        #expect(targets.count == 1)
        _ = try await targets.messages.ringLater.all(3, concurrently: true)
      }
      #expect(story.take() == ["rings 3"])
      #expect(targets.count == 0)
    }

    @Test(
      "a target that adds itself again on its queue is called again", arguments: ProxyWay.allCases)
    func again(_ way: ProxyWay) {
      let bell = FullBell(story)
      let targets = ringing(way, bell, on: .queue(queue))
      let (proxy, lane) = (targets.proxy, DeliveryLane.queue(queue))
      bell.rung.withLock { $0 = { targets.add(bell, on: lane, once: true) } }
      for number in 1...6 {
        if number < 4 { proxy.idle(number) } else { proxy.ring(number) }
        queue.sync {}
      }
      bell.rung.withLock { $0 = {} }
      #expect(story.take() == (1...6).map { $0 < 4 ? "idle \($0)" : "rings \($0)" })
      #expect(targets.count == 1)
    }

    @Test(
      "a target that is added again between a call and its turn gets the call",
      arguments: ProxyWay.allCases, [false, true])
    func addedAgain(_ way: ProxyWay, _ isBlocking: Bool) {
      let lane = isBlocking ? DeliveryLane.blocking(queue) : .queue(queue)
      let (bell, first) = (FullBell(story), FullBell(story))
      let targets = ringing(way, bell, on: lane)
      targets.add(first, strongly: true, priority: 1)
      first.rung.withLock { $0 = { targets.add(bell, strongly: true, on: lane, once: true) } }
      targets.proxy.idle(1)
      queue.sync {}
      first.rung.withLock { $0 = {} }
      #expect(story.take() == ["idle 1", "idle 1"])
      #expect(targets.count == 1)
    }

    @Test(
      "a target that misses the deadline of an awaited call is not used up",
      arguments: ProxyWay.allCases)
    func awaitedTooLong(_ way: ProxyWay) async {
      let bell = FullBell(story)
      let targets = ringing(way, bell, on: .blocking(queue, deadline: .milliseconds(1)))
      queue.suspend()
      await targets.proxy.ringLater(1)
      queue.resume()
      #expect(targets.count == 1)
      targets.add(
        bell, strongly: true, on: .blocking(queue, deadline: .seconds(1000)), once: true)
      await targets.proxy.ringLater(2)
      #expect(story.take() == ["rings 2"])
      #expect(targets.count == 0)
    }

    @Test("a target that throws has used it", arguments: ProxyWay.allCases)
    func throwing(_ way: ProxyWay) {
      let targets = ringing(way, Bell(story))
      #expect(throws: Broken.self) { try targets.proxy.fail() }
      #expect(targets.count == 0)
    }

    @Test(
      "a method that is replaced while a call waits on a queue performs the call",
      arguments: ProxyWay.allCases)
    func replaced(_ way: ProxyWay) throws {
      final class Changing<Tag>: Ringing, @unchecked Sendable {
        let story: Story
        init(_ story: Story) { self.story = story }
        func ring(_ number: Int) { story.tell("old \(number)") }
        func ringLater(_ number: Int) async {}
        func fail() throws {}
      }
      let bell: any Ringing & Sendable =
        way == .calls ? Changing<Int>(story) : Changing<String>(story)
      let targets = Multicast<RingingProxy>(way.untyped)
      targets.add(bell, strongly: true, on: .queue(queue))
      targets.proxy.ring(1)
      queue.sync {}
      queue.suspend()
      targets.proxy.ring(2)
      let table = MethodTable.of(type(of: bell as AnyObject))
      let story = story
      table.replace(
        "ring:",
        try Implementation { (_: AnyObject, number: Int) in
          story.tell("new \(number)")
        })
      targets.proxy.ring(3)
      queue.resume()
      queue.sync {}
      #expect(story.take() == ["old 1", "new 2", "new 3"])
    }

    @Test(
      "a method that is removed while a call waits on a queue is a failure",
      arguments: ProxyWay.allCases)
    func removed(_ way: ProxyWay) {
      final class Losing<Tag>: Ringing, @unchecked Sendable {
        func ring(_ number: Int) {}
        func ringLater(_ number: Int) async {}
        func fail() throws {}
      }
      let bell: any Ringing & Sendable = way == .calls ? Losing<Int>() : Losing<String>()
      let targets = Multicast<RingingProxy>(way.untyped)
      let failures = Guarded(0)
      targets.onDiagnostic = { if case .failed = $0 { failures.withLock { $0 += 1 } } }
      targets.add(bell, strongly: true, on: .queue(queue))
      targets.proxy.ring(1)
      queue.sync {}
      queue.suspend()
      targets.proxy.ring(2)
      MethodTable.of(type(of: bell as AnyObject)).remove("ring:")
      queue.resume()
      queue.sync {}
      #expect(failures.read { $0 } == 1)
    }
  }
#endif
