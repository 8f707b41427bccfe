// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing

/// A target whose methods end when the test says so, and that logs its own end.
private final class Busy: MethodDeclaring, Sendable {
  let log: Log
  let began = DispatchSemaphore(value: 0)
  let goOn = DispatchSemaphore(value: 0)
  init(_ log: Log) { self.log = log }
  deinit {
    Thread.sleep(forTimeInterval: 0.05)
    log.add("gone")
  }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("did:") { (self: Busy, _: Int32) in
      self.began.signal()
      self.goOn.wait()
      self.log.add("ended")
    }
  }
}

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

/// A target whose methods remove the target.
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
    methods.register("loadNow") { (self: Leaver) in
      func removeHere() throws(ForwardingError) { _ = try self.proxy.removeAndWait(self) }
      do throws(ForwardingError) { try removeHere() } catch { self.refused.withLock { $0 = error } }
      Task { await self.ended.open() }
    }
  }
}

private actor Desk {
  func remove(_ proxy: MulticastProxy, _ target: AnyObject) throws -> Int {
    try proxy.removeAndWait(target)
  }
}

@Suite("Removals that wait")
struct RemovalTests {
  let log = Log()
  let proxy = MulticastProxy()
  let queue = DispatchQueue(label: "removals that wait")
  private static let load = try! AsyncMessage<Void>("load")

  private static func refusal(of target: Any.Type) -> ForwardingError {
    .wouldDeadlock(.init(selector: nil, target: target))
  }

  private func lane(isHere: Bool) -> DeliveryLane { isHere ? .caller : .queue(queue) }

  // MARK: What they wait for

  private final class Closing: MethodDeclaring, Sendable {
    let isClosed = Atomic(false)
    let late: Atomic<Int> = Atomic(0)
    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("did:") { (self: Closing, _: Int32) in
        // The second half of the method still belongs to a message that began before the removal.
        for _ in 0..<2 where self.isClosed.load(ordering: .sequentiallyConsistent) {
          self.late.add(1, ordering: .relaxed)
        }
      }
    }
  }

  @Test("afterwards no method begins or continues", arguments: [true, false])
  func nothingAfter(isHere: Bool) {
    let (proxy, lane) = (proxy, lane(isHere: isHere))
    let late = Atomic(0)
    let removed = Atomic(0)
    let stop = Atomic(false)
    let end = Date().addingTimeInterval(0.5)
    onThreads(4) { thread in
      while thread > 1, !stop.load(ordering: .relaxed) { _ = try? did(1, on: proxy) }
      while thread == 0, Date() < end || removed.load(ordering: .relaxed) == 0 {
        let target = Closing()
        let token = proxy.add(target, strongly: true, on: lane)
        Thread.sleep(forTimeInterval: 0.0001)
        if (try? proxy.removeAndWait(token)) == true { removed.add(1, ordering: .relaxed) }
        target.isClosed.store(true, ordering: .sequentiallyConsistent)
        Thread.sleep(forTimeInterval: 0.0001)
        late.add(target.late.load(ordering: .relaxed), ordering: .relaxed)
      }
      if thread == 0 { stop.store(true, ordering: .relaxed) }
    }
    queue.sync {}
    #expect(late.load(ordering: .relaxed) == 0)
    #expect(removed.load(ordering: .relaxed) > 0)
  }

  @Test(
    "the running method has ended, and a strong target has been released",
    arguments: [true, false], [true, false])
  func runningMethod(isHere: Bool, isAwaited: Bool) async throws {
    let proxy = proxy
    var target: Busy? = Busy(log)
    let (began, goOn) = (target!.began, target!.goOn)
    let token = proxy.add(target!, strongly: true, on: lane(isHere: isHere))
    target = nil
    Thread.detachNewThread { _ = try? did(1, on: proxy) }
    await withCheckedContinuation { continuation in
      beginThread {
        began.wait()
        continuation.resume()
      }
    }
    beginThread(after: 0.02) { goOn.signal() }
    func removeHere() throws -> Bool { try proxy.removeAndWait(token) }
    #expect(try isAwaited ? await proxy.removeAndWait(token) : removeHere())
    #expect(log.all == ["ended", "gone"])
    #expect(try isAwaited ? await !proxy.removeAndWait(token) : !removeHere())
  }

  @Test("messages that have not begun are dropped with their target, and not waited for")
  func queued() throws {
    let proxy = proxy
    var target: Listener? = Listener("x", log)
    weak let seen = target
    queue.suspend()
    let token = proxy.add(target!, strongly: true, on: .queue(queue))
    let ticket = try #require(try proxy.deliver(did.invocation(2)).entries[0].ticket)
    target = nil
    let isOver = ends { try proxy.removeAndWait(token) }
    #expect(isOver && seen == nil)
    queue.resume()
    #expect(ticket.wait(timeout: .now() + 60).map { "\($0)" } == "removed")
    #expect(log.all == [])
  }

  @Test("an awaited removal on an actor ends after a message that needs that actor")
  func onActor() async throws {
    let desk = Desk()
    try await removing(on: desk, lane: .caller)
    try await removing(on: desk, lane: .actor(desk))
    try await removing(on: desk, lane: .actor(desk), isAwaited: false)
  }

  private func removing(on desk: Desk, lane: DeliveryLane, isAwaited: Bool = true) async throws {
    let (proxy, log) = (MulticastProxy(), Log())
    let target = Loader(log, desk)
    proxy.add(target, on: lane)
    let message = Task {
      if isAwaited { return try await Self.load(on: proxy) }
      try Message<NoResult>("load")(on: proxy)
    }
    await target.began.wait()
    // The thread would wait forever.
    await #expect(throws: Self.refusal(of: Loader.self)) { try await desk.remove(proxy, target) }
    #expect(proxy.targets.count == 1, "nothing is removed")
    func awaitRemoval(on actor: isolated any Actor) async throws -> Int {
      try await proxy.removeAndWait(target)
    }
    #expect(try await awaitRemoval(on: desk) == 1)
    #expect(log.all == ["begins", "ends"])
    #expect(proxy.targets.isEmpty)
    try await message.value
  }

  @Test("a thread outside all actors waits for an awaited message by blocking")
  func onThread() async throws {
    let proxy = proxy
    let target = Loader(log, Desk())
    proxy.add(target)
    let message = Task { try await Self.load(on: proxy) }
    await target.began.wait()
    let removed = await withCheckedContinuation { continuation in
      beginThread { continuation.resume(returning: try? proxy.removeAndWait(target)) }
    }
    #expect(removed == 1 && log.all == ["begins", "ends"])
    try await message.value
  }

  // MARK: Where they are refused

  @Test(
    "inside a delivery they are refused, and remove nothing",
    arguments: [("load", true), ("load", false), ("loadNow", false)])
  func inside(_ selector: String, isAwaited: Bool) async throws {
    // An async method that is not awaited needs a lane.
    let needsLane = selector == "load" && !isAwaited
    let lanes: [DeliveryLane] = needsLane ? [] : [.caller, .blocking(queue)]
    for lane in lanes + [.queue(queue)] {
      let target = Leaver()
      target.proxy.add(target, on: lane)
      let message = try Message<NoResult>(Selector(interning: selector))
      if isAwaited {
        try await message(on: target.proxy, concurrently: false)
      } else {
        try message(on: target.proxy)
      }
      await target.ended.wait()
      #expect(target.refused.withLock { $0 } == Self.refusal(of: Leaver.self))
      #expect(target.proxy.targets.count == 1)
    }
  }

  @Test("on the queue of a blocking lane, and in front of it; a delivery may wait for the queue")
  func onQueue() throws {
    let front = DispatchQueue(label: "in front", target: queue)
    let first = Listener("first", log)
    let token = proxy.add(first)
    proxy.add(Listener("second", log), strongly: true, on: .blocking(queue))
    // A lane of its own must not hide the queue behind it.
    MulticastProxy().add(first, on: .queue(front))
    for place in [queue, front] {
      place.sync {
        _ = #expect(throws: Self.refusal(of: Listener.self)) { try proxy.removeAndWait(token) }
      }
    }
    try did(1, on: proxy)
    #expect(log.all == ["first 1", "second 1"])
    let other = DispatchQueue(label: "of no blocking lane")
    #expect(try other.sync { try proxy.removeAndWait(token) })
    #expect(try DispatchQueue.global().sync { try proxy.removeAndWait(token) } == false)
    withExtendedLifetime(first) {}
  }

  @Test("on a queue that an awaited message needs")
  func onNeededQueue() async throws {
    let (proxy, queue, first, target) = (proxy, queue, ClosureTarget(), ClosureTarget())
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

  // MARK: Where user code may remove

  /// A class that removes a registration while it is asked for a method.
  private final class Leaving: MessageForwarding {
    nonisolated(unsafe) static var leave: (() -> Void)?

    static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
      leave?()
      return false
    }
  }

  @Test(
    "a listener may remove targets that failed, and a target itself while it is asked for types")
  func inUserCode() async {
    await #expect(processExitsWith: .success) {
      // It would deadlock.
      alarm(120)
      let proxy = MulticastProxy()
      let targets = (0..<3).map { _ in Listener("x", Log()) }
      defer { withExtendedLifetime(targets) {} }
      for target in targets { proxy.add(target) }
      proxy.onDiagnostic = { [weak proxy] in
        if case .failed(let token, _, _) = $0 {
          require((try? proxy?.removeAndWait(token)) == true, "removed by the listener")
        }
      }
      #expect(throws: Failure.self) { try Messages.fail(on: proxy) }
      // The sender receives the error of the first target.
      require(proxy.count == 1, "\(proxy.count)")
      let target = Leaving()
      defer { withExtendedLifetime(target) {} }
      let token = proxy.add(target)
      Leaving.leave = { require((try? proxy.removeAndWait(token)) != nil, "removed while asked") }
      require(proxy.methodSignature(for: "whatIsNotThere") == nil)
      require(proxy.count == 1)
    }
  }
}
