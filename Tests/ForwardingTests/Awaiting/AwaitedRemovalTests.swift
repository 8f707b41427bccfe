// SPDX-License-Identifier: Apache-2.0
import Dispatch
@testable import Forwarding
import ForwardingTestSupport
import Foundation
import Synchronization
@testable import Invocations
import Testing

/// A target whose methods return to an actor in the middle.
private final class Loader: MethodDeclaring, @unchecked Sendable {
  let log: Log
  let began = Latch()
  let place: any Actor
  init(_ log: Log, _ place: any Actor) { (self.log, self.place) = (log, place) }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("load") { (self: Loader) async throws -> Void in
      self.log.add("begins")
      await self.began.open()
      try await Task.sleep(for: .milliseconds(30))
      await self.step(on: self.place)
    }
  }

  private func step(on actor: isolated any Actor) async {
    try? await Task.sleep(for: .milliseconds(30))
    log.add("ends")
  }
}

/// A target whose method removes the target.
private final class Leaver: MethodDeclaring, @unchecked Sendable {
  let (proxy, ended) = (MulticastProxy(), Latch())
  let refused = LockedValue<ForwardingError?>(nil)

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("load") { (self: Leaver) async throws -> Void in
      do throws(ForwardingError) { _ = try await self.proxy.removeAndWait(self) } catch {
        self.refused.withLock { $0 = error }
      }
      await self.ended.open()
    }
  }
}

@Suite("Waiting for the end of a registration", .timeLimit(.minutes(60)))
struct AwaitedRemovalTests {
  private static let load = try! AsyncMessage<Void>("load")
  private static let begin = try! Message<Void>("begin")

  private static func refusal(of target: Any.Type) -> ForwardingError {
    .wouldDeadlock(.init(selector: nil, target: target))
  }

  private actor Desk {
    func remove(_ tests: AwaitedRemovalTests) async throws { try await tests.removing(on: self) }
    func removeHere(_ proxy: MulticastProxy, _ target: AnyObject) throws -> Int {
      try proxy.removeAndWait(target)
    }
  }

  @Test("an awaited removal on another actor ends after a message that needs that actor")
  func onActor() async throws { try await Desk().remove(self) }

  private func removing(on actor: isolated any Actor) async throws {
    let (proxy, log) = (MulticastProxy(), Log())
    let target = Loader(log, actor)
    proxy.add(target)
    let message = Task { try await Self.load(on: proxy) }
    await target.began.wait()
    // The thread would wait forever.
    func removeHere() throws -> Int { try proxy.removeAndWait(target) }
    #expect(throws: Self.refusal(of: Loader.self)) { try removeHere() }
    #expect(proxy.targets.count == 1, "nothing is removed")
    #expect(try await proxy.removeAndWait(target) == 1)
    #expect(log.all == ["begins", "ends"])
    #expect(proxy.targets.isEmpty)
    #expect(try await proxy.removeAndWait(target) == 0)
    try await message.value
  }

  @Test("a thread outside all actors waits for an awaited message by blocking")
  func onThread() async throws {
    let (proxy, log) = (MulticastProxy(), Log())
    let target = Loader(log, Desk())
    proxy.add(target)
    let message = Task { try await Self.load(on: proxy) }
    await target.began.wait()
    let removed = await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: try? proxy.removeAndWait(target)) }.start()
    }
    #expect(removed == 1 && log.all == ["begins", "ends"])
    try await message.value
  }

  @Test("a removal inside an async method on a lane is refused, and removes nothing")
  func insideLane() async throws {
    let target = Leaver()
    target.proxy.add(target, on: .queue(DispatchQueue(label: "inside a lane")))
    try Message<NoResult>("load")(on: target.proxy)
    await target.ended.wait()
    #expect(target.refused.withLock { $0 } == Self.refusal(of: Leaver.self))
    #expect(target.proxy.targets.count == 1)
  }

  @Test("on an actor, a target whose method is suspended on a lane is not removed by blocking")
  func suspendedOnLane() async throws {
    let (proxy, log) = (MulticastProxy(), Log())
    let desk = Desk()
    let target = Loader(log, desk)
    proxy.add(target, on: .actor(desk))
    try Message<NoResult>("load")(on: proxy)
    await target.began.wait()
    await #expect(throws: Self.refusal(of: Loader.self)) {
      try await desk.removeHere(proxy, target)
    }
    #expect(proxy.targets.count == 1, "nothing is removed")
    #expect(try await proxy.removeAndWait(target) == 1)
    #expect(log.all == ["begins", "ends"])
  }

  @Test("on a queue that an awaited message needs, its target is not removed by blocking")
  func onNeededQueue() async throws {
    let (proxy, first, target) = (MulticastProxy(), ClosureTarget(), ClosureTarget())
    let queue = DispatchQueue(label: "needed")
    let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // The delivery to both has begun then.
    try first.register(
      "load", Implementation { (_: ClosureTarget) async throws -> Void in goOn.signal() })
    try target.register("load", Implementation { (_: ClosureTarget) async throws -> Void in })
    proxy.add(first)
    proxy.add(target, on: .queue(queue))
    let refused = LockedValue<ForwardingError?>(nil)
    queue.async {
      begun.signal()
      goOn.wait()
      do throws(ForwardingError) { _ = try proxy.removeAndWait(target) } catch {
        refused.withLock { $0 = error }
      }
    }
    await withCheckedContinuation { continuation in
      beginThread {
        begun.wait()
        continuation.resume()
      }
    }
    try await Self.load(on: proxy)
    #expect(refused.withLock { $0 } == Self.refusal(of: ClosureTarget.self))
    #expect(try await proxy.removeAndWait(target) == 1)
  }

  @Test("an awaited removal by token also waits for a message that runs on a thread")
  func forThread() async throws {
    let (proxy, log) = (MulticastProxy(), Log())
    let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let target = ClosureTarget()
    try target.register("begin") {
      began.signal()
      goOn.wait()
      log.add("ended")
    }
    let token = proxy.add(target)
    Thread { try? Self.begin(on: proxy) }.start()
    await withCheckedContinuation { continuation in
      Thread {
        began.wait()
        continuation.resume()
      }.start()
    }
    beginThread(after: 0.05) { goOn.signal() }
    #expect(try await proxy.removeAndWait(token))
    #expect(log.all == ["ended"])
    #expect(try await proxy.removeAndWait(token) == false)
  }

  @Test("messages that end in time leave no timers of their lanes")
  func noTimers() async {
    await #expect(processExitsWith: .success) {
      let proxy = MulticastProxy()
      let target = ClosureTarget()
      try target.register("load", Implementation { (_: ClosureTarget) async -> Void in })
      let queue = DispatchQueue(label: "timers")
      proxy.add(target, on: .blocking(queue, deadline: .seconds(3600)))
      for _ in 0..<2000 { try await AwaitedRemovalTests.load(on: proxy) }
      require(Deadlines.shared.count == 0, "\(Deadlines.shared.count) timers are left")
      _exit(0)
    }
  }

  @Test("the deadline of a lane works when the process may open no more files")
  func noFiles() async {
    await #expect(processExitsWith: .success) {
      let proxy = MulticastProxy()
      let target = ClosureTarget()
      try target.register(
        "load",
        Implementation { (_: ClosureTarget) async throws -> Void in
          try await Task.sleep(for: .seconds(3600))
        })
      let queue = DispatchQueue(label: "no files")
      proxy.add(target, on: .blocking(queue, deadline: .milliseconds(50)))
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
      none.rlim_cur = rlim_t(dup(2))
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
      let report = try await AwaitedRemovalTests.load.message.report(
        on: proxy, concurrently: false)
      if case .failed(ForwardingError.timedOut) = report.entries[0].outcome { _exit(0) }
      require(false, "\(report.entries[0].outcome)")
    }
  }
}
