// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Testing

  @Suite("The turns of targets in an awaited requirement")
  struct AwaitedTurnsTests {
    private let story = Story()
    private let refusal = ForwardingError.wouldDeadlock(.init(selector: nil, target: Ear.self))

    /// A requirement, and whether it can tell its sender that its task was cancelled.
    private struct Sent: CustomTestStringConvertible, Sendable {
      let testDescription: String
      var tells = false
      /// Whether it throws the errors of its targets, and no other.
      var throwsOwn = false
      /// The answer of the target with the number 2.
      let answer: Int
      let send: @Sendable (any Hearing) async throws -> Int

      static let all = [
        Sent(testDescription: "any error", tells: true, answer: 2) { try await $0.checkLater(1) },
        Sent(testDescription: "no answer", answer: 0) {
          await $0.hearLater(1)
          return 0
        },
        Sent(testDescription: "no error", answer: 201) { await $0.weighLater(1) },
        Sent(testDescription: "another error", throwsOwn: true, answer: 2) {
          try await $0.gradeLater(1)
        },
      ]
    }

    @Test(
      "no turn begins once the task is cancelled, unless no error could tell its sender",
      arguments: ProxyWay.allCases, Sent.all)
    private func cancelled(_ way: ProxyWay, _ sent: Sent) async throws {
      for lane in [DeliveryLane.caller, .queue(DispatchQueue(label: "cancelled"))] {
        let targets = story.hearing(way)
        let (first, second) = (story.ear(1, in: targets), Ear(2, story))
        targets.add(unchecked: second, strongly: true, on: lane)
        first.later = { withUnsafeCurrentTask { $0?.cancel() } }
        let proxy = targets.proxy
        if sent.tells {
          await #expect(throws: CancellationError.self) {
            try await Task { try await sent.send(proxy) }.value
          }
          #expect(story.take() == ["1 checks 1"])
        } else {
          #expect(try await Task { try await sent.send(proxy) }.value == sent.answer)
          #expect(story.take().map(\.first) == ["1", "2"])
        }
        if sent.throwsOwn {
          second.isBroken = true
          await #expect(throws: Lame(name: "2")) {
            try await Task { try await sent.send(proxy) }.value
          }
          #expect(story.take().map(\.first) == ["1", "2"])
        }
      }
    }

    @Test("a task cancelled before takes no turn, except that of a single target")
    func cancelledBefore() async throws {
      let (targets, ear) = (story.hearing(), Ear(1, story))
      targets.add(ear)
      let source = DataSource<HearingProxy>()
      source.add(ear)
      let single = SingleTarget<HearingProxy>(ear)
      let proxies: [(proxy: any Hearing, isAsked: Bool)] = [
        (targets.proxy, false), (source.proxy, false), (single.proxy, true),
      ]
      for (proxy, isAsked) in proxies {
        let task = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          return try await proxy.checkLater(5)
        }
        let answer = try? await task.value
        #expect(answer == (isAsked ? 1 : nil))
        #expect(story.take() == (isAsked ? ["1 checks 5"] : []))
      }
    }

    @Test("turns that begin each other without end are refused", arguments: ProxyWay.allCases)
    func depth(_ way: ProxyWay) async throws {
      let targets = story.hearing(way)
      let ear = story.ear(1, in: targets)
      let count = Guarded(0)
      let proxy = targets.proxy
      ear.later = {
        let depth = count.withLock {
          $0 += 1
          return $0
        }
        if depth > 1000 { throw CancellationError() }
        _ = try await proxy.checkLater(depth)
      }
      let tooDeep = InvocationError.forwardedTooDeeply("checkLater:", limit: 200)
      await #expect(throws: tooDeep) { try await proxy.checkLater(0) }
      // A message counts as two steps: one of the proxy, and one of its delivery.
      let limit = way == .calls ? 200 : 100
      #expect(count.read { $0 } == limit)
      // All steps have ended.
      count.withLock { $0 = 0 }
      await #expect(throws: tooDeep) { try await proxy.checkLater(0) }
      #expect(count.read { $0 } == limit)
      ear.later = nil
      #expect(try await proxy.checkLater(7) == 1)
    }

    @Test(
      "a circle of proxies is detected: each target is called once, awaited or not",
      arguments: ProxyWay.allCases, [false, true])
    func circles(_ way: ProxyWay, _ isAwaited: Bool) async throws {
      for count in 2...3 {
        let all = (0..<count).map { _ in Multicast<HearingProxy>(way.untyped) }
        for one in all {
          one.onDiagnostic = { _ in }
          for other in all where other !== one { one.add(other.proxy) }
        }
        for (number, one) in all.enumerated() { story.ear(number, in: one) }
        if isAwaited { await all[0].proxy.hearLater(1) } else { all[0].proxy.hear(1) }
        let told = story.take()
        #expect(Set(told).count == count && told.count < 10, "\(told)")
        withExtendedLifetime(all) {}
      }
    }

    @Test(
      "targets on a queue and on no lane are called in one order, awaited or not",
      arguments: ProxyWay.allCases, [false, true])
    func lanes(_ way: ProxyWay, _ isAwaited: Bool) async {
      let (targets, queue) = (story.hearing(way), DispatchQueue(label: "one order"))
      func add(_ number: Int, _ lane: DeliveryLane, priority: Int = 0) {
        let ear = Ear(number, story)
        targets.add(unchecked: ear, strongly: true, on: lane, priority: priority)
      }
      add(2, .queue(queue))
      add(3, .blocking(queue))
      add(4, .caller)
      add(5, .queue(queue))
      add(6, .blocking(queue, deadline: .seconds(1000)))
      add(1, .queue(queue), priority: 1)
      for number in 1...2 {
        if isAwaited {
          await targets.proxy.hearLater(number)
        } else {
          targets.proxy.hear(number)
        }
        #expect(story.take() == (1...6).map { "\($0) hears \(number)" })
      }
    }

    @Test(
      "a turn begins when the one before has ended, also if all other references are released",
      arguments: ProxyWay.allCases)
    func lifetime(_ way: ProxyWay) async throws {
      let targets = Guarded<Multicast<HearingProxy>?>(story.hearing(way))
      for number in 1...2 {
        let (ear, story) = (Ear(number, story), story)
        ear.later = {
          targets.withLock { $0 = nil }
          await Task.yield()
          story.tell("\(number) ends")
        }
        targets.read { $0 }?.add(ear, strongly: true)
      }
      let answer = try await targets.read { $0?.proxy }?.checkLater(4)
      #expect(answer == 2)
      #expect(story.take() == ["1 checks 4", "1 ends", "2 checks 4", "2 ends"])
    }

    @Test("turns of many concurrent tasks do not interfere", arguments: ProxyWay.allCases)
    func concurrent(_ way: ProxyWay) async throws {
      let targets = story.hearing(way)
      for number in 0..<4 { story.ear(number, in: targets) }
      let full = FullEar(4, story)
      targets.add(full, strongly: true)
      let proxy = targets.proxy
      await withTaskGroup(of: Int?.self) { group in
        for number in 0..<50 {
          group.addTask {
            if number % 10 == 3 {
              let token = targets.add(full.ear)
              _ = try? await targets.untyped.removeAndWait(token)
            }
            return try? await proxy.rateLater(number)
          }
        }
        for await answer in group { #expect(answer == 4) }
      }
      #expect(Set(story.take()).isSuperset(of: (0..<50).map { "4 checks \($0)" }))
    }

    @Test(
      "what a target omits is recognized while a target of another proxy is awaited",
      arguments: ProxyWay.allCases)
    func inside(_ way: ProxyWay) async throws {
      let (outer, inner) = (story.hearing(way), story.hearing(way))
      let (idle, full) = (story.ear(1, in: inner), FullEar(2, story))
      outer.add(full, strongly: true)
      let proxy = inner.proxy
      full.ear.later = { [idle] in
        await proxy.napLater(1)
        await idle.napLater(2)
        async let child: Void = idle.napLater(3)
        await child
      }
      #expect(try await outer.proxy.rateLater(5) == 2)
      await outer.proxy.napLater(6)
      let told = ["2 checks 5", "unanswered napLater:", "2 naps 6", "unanswered napLater:"]
      #expect(story.take() == told)
    }

    @Test(
      "a target that waits for its own removal is refused, also in a child task",
      arguments: ProxyWay.allCases)
    func removing(_ way: ProxyWay) async throws {
      let targets = story.hearing(way)
      let ear = story.ear(1, in: targets)
      let story = story
      @Sendable func removeHere() {
        do { _ = try targets.untyped.removeAndWait(ear) } catch { story.tell("\(error)") }
      }
      ear.later = {
        removeHere()
        do { _ = try await targets.untyped.removeAndWait(ear) } catch { story.tell("\(error)") }
        async let child: Int = try targets.untyped.removeAndWait(ear)
        do { _ = try await child } catch { story.tell("\(error)") }
        await withTaskGroup { group in
          group.addTask { removeHere() }
        }
      }
      _ = try await targets.proxy.checkLater(1)
      #expect(story.take() == ["1 checks 1"] + Array(repeating: "\(refusal)", count: 4))
      ear.later = { @MainActor in removeHere() }
      _ = try await targets.proxy.checkLater(2)
      #expect(story.take() == ["1 checks 2", "\(refusal)"])
      #expect(targets.count == 1)
      ear.later = nil
    }

    @Test(
      "an awaited removal waits for a running requirement, also in a task that the target started",
      arguments: ProxyWay.allCases, [false, true])
    @MainActor
    func removingLater(_ way: ProxyWay, _ isInside: Bool) async throws {
      let (targets, story) = (story.hearing(way), story)
      let ear = story.ear(1, in: targets)
      let (began, leave, goOn, removed) = (Latch(), Latch(), Latch(), Latch())
      @Sendable func remove() async {
        await leave.wait()
        do { story.tell("removed \(try await targets.untyped.removeAndWait(ear))") } catch {
          story.tell("\(error)")
        }
        await removed.open()
      }
      ear.later = {
        if isInside { Task { await remove() } }
        await began.open()
        await goOn.wait()
        story.tell("1 ends")
      }
      let proxy = targets.proxy
      let message = Task { await proxy.hearLater(1) }
      await began.wait()
      // On an actor, which the requirement may need, no other removal waits.
      let later = story.ear(2, in: targets)
      func removeHere(_ target: Ear) throws -> Int { try targets.untyped.removeAndWait(target) }
      #expect(throws: refusal) { try removeHere(ear) }
      #expect(try removeHere(later) == 1)
      #expect(targets.count == 1)
      if !isInside { Task { await remove() } }
      await leave.open()
      while targets.count > 0, !story.lines.contains("\(refusal)") { await Task.yield() }
      story.tell("going on")
      await goOn.open()
      await message.value
      await removed.wait()
      #expect(story.take() == ["1 hears 1", "going on", "1 ends", "removed 1"])
      // No requirement is running any more.
      let next = story.ear(3, in: targets)
      await targets.proxy.hearLater(2)
      #expect(try removeHere(next) == 1)
      ear.later = nil
    }
  }
#endif
