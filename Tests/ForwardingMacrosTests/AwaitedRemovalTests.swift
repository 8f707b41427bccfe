// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Testing

  @Suite("Removal during awaited requirements", .timeLimit(.minutes(60)))
  struct AwaitedRemovalTests: RunningTests {
    let story = Story()
    let kept = Guarded<[any Sendable]>([])
    private let refusal = ForwardingError.wouldDeadlock(.init(selector: nil, target: Runner.self))

    @Test(
      "a target that waits for its own removal is refused, also in a child task",
      arguments: ProxyWay.allCases)
    func removing(_ way: ProxyWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      @Sendable func removeHere() {
        do { _ = try targets.untyped.removeAndWait(a) } catch { story.tell("\(error)") }
      }
      a.does { [story] in
        removeHere()
        do { _ = try await targets.untyped.removeAndWait(a) } catch { story.tell("\(error)") }
        async let child: Int = try targets.untyped.removeAndWait(a)
        do { _ = try await child } catch { story.tell("\(error)") }
        await withTaskGroup { group in
          group.addTask { removeHere() }
        }
      }
      _ = try await targets.proxy.check(1)
      #expect(story.take() == ["a checks 1"] + Array(repeating: "\(refusal)", count: 4))
      a.does { @MainActor in removeHere() }
      _ = try await targets.proxy.check(2)
      #expect(story.take() == ["a checks 2", "\(refusal)"])
      #expect(targets.count == 1)
    }

    @Test(
      "a task that a target starts, and does not await, is outside of the message",
      arguments: ProxyWay.allCases)
    func removingInTask(_ way: ProxyWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      let (began, goOn, removed) = (Latch(), Latch(), Latch())
      a.does { [story] in
        Task {
          await began.wait()
          do { story.tell("removed \(try await targets.untyped.removeAndWait(a))") } catch {
            story.tell("\(error)")
          }
          await removed.open()
        }
        await began.open()
        await goOn.wait()
        story.tell("a ends")
      }
      let proxy = targets.proxy
      let message = Task { await proxy.run(1) }
      await began.wait()
      while targets.count > 0, !story.has("\(refusal)") { await Task.yield() }
      await goOn.open()
      await message.value
      await removed.wait()
      #expect(story.take() == ["a runs 1", "a ends", "removed 1"])
    }

    @Test(
      "on an actor a removal waits for a running requirement; a later target is removed at once",
      arguments: ProxyWay.allCases)
    @MainActor
    func removingLater(_ way: ProxyWay) async throws {
      let targets = running(way)
      let a = runner("a", in: targets)
      let (began, goOn) = (Latch(), Latch())
      a.does { [story] in
        await began.open()
        await goOn.wait()
        story.tell("a ends")
      }
      let proxy = targets.proxy
      let message = Task { await proxy.run(1) }
      await began.wait()
      let later = runner("later", in: targets)
      func removeHere(_ target: Runner) throws -> Int { try targets.untyped.removeAndWait(target) }
      #expect(throws: refusal) { try removeHere(a) }
      #expect(try removeHere(later) == 1)
      #expect(targets.count == 1)
      let removal = Task { [story] in
        let count = try await targets.untyped.removeAndWait(a)
        story.tell("removed \(count)")
      }
      for _ in 0..<10 { await Task.yield() }
      story.tell("going on")
      await goOn.open()
      await message.value
      try await removal.value
      #expect(story.take() == ["a runs 1", "going on", "a ends", "removed 1"])
      // No requirement is running any more.
      let b = runner("b", in: targets)
      await targets.proxy.run(2)
      #expect(try removeHere(b) == 1)
    }
  }
#endif
