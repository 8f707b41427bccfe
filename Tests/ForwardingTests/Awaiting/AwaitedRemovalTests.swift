import Dispatch
@testable import Forwarding
import ForwardingTestSupport
import Foundation
import Synchronization
@testable import Invocations
import Testing

/// A target whose methods come back to an actor in their middle.
private final class Loader: MethodDeclaring, @unchecked Sendable {
  let log: Log
  let began = Meeting()
  let place: any Actor
  init(_ log: Log, _ place: any Actor) { (self.log, self.place) = (log, place) }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("load") { (self: Loader) async throws -> Void in
      self.log.add("begins")
      await self.began.arrive()
      try await Task.sleep(for: .milliseconds(30))
      await self.step(on: self.place)
    }
  }

  private func step(on actor: isolated any Actor) async {
    try? await Task.sleep(for: .milliseconds(30))
    log.add("ends")
  }
}

/// A place where a task waits for one other.
private actor Meeting {
  private var hasArrived = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  func arrive() {
    hasArrived = true
    for waiting in waiting { waiting.resume() }
    waiting = []
  }
  func wait() async { if !hasArrived { await withCheckedContinuation { waiting.append($0) } } }
}

@Suite("Waits for the end of a registration", .timeLimit(.minutes(5)))
struct AwaitedRemovalTests {
  private static let load = try! AsyncMessage<Void>("load")
  private static let begin = try! Message<Void>("begin")

  @Test(
    "on the main actor, a wait that is awaited is over when the message is, which needs that actor")
  @MainActor func onMainActor() async throws {
    try await removing(on: MainActor.shared)
  }

  private actor Desk {
    func remove(_ tests: AwaitedRemovalTests) async throws { try await tests.removing(on: self) }
    func removeHere(_ proxy: MulticastProxy, _ target: AnyObject) throws -> Int {
      try proxy.removeAndWait(target)
    }
  }

  @Test("and so on an actor of one's own")
  func onActor() async throws { try await Desk().remove(self) }

  private func removing(on actor: isolated any Actor) async throws {
    let (proxy, log) = (MulticastProxy(), Log())
    let target = Loader(log, actor)
    proxy.add(target)
    let message = Task { try await Self.load(on: proxy) }
    await target.began.wait()
    // The thread would wait for ever.
    func removeHere() throws -> Int { try proxy.removeAndWait(target) }
    #expect(throws: ForwardingError.wouldDeadlock) { try removeHere() }
    #expect(proxy.targets.count == 1, "nothing is removed")
    #expect(try await proxy.removeAndWait(target) == 1)
    #expect(log.all == ["begins", "ends"])
    #expect(proxy.targets.isEmpty)
    #expect(try await proxy.removeAndWait(target) == 0)
    try await message.value
  }

  @Test("by its token, too, and a token that is gone is false")
  func byToken() async throws {
    let (proxy, log) = (MulticastProxy(), Log())
    let target = Loader(log, Desk())
    let token = proxy.add(target)
    let message = Task { try await Self.load(on: proxy) }
    await target.began.wait()
    #expect(try await proxy.removeAndWait(token))
    #expect(log.all == ["begins", "ends"])
    #expect(try await proxy.removeAndWait(token) == false)
    try await message.value
  }

  @Test("a thread that is no actor's waits for a message that is awaited, as ever")
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

  @Test("on an actor, what no message that is awaited has in its list is removed at once")
  func others() async throws {
    let (proxy, log) = (MulticastProxy(), Log())
    let desk = Desk()
    let target = Loader(log, desk)
    proxy.add(target)
    let message = Task { try await Self.load(on: proxy) }
    await target.began.wait()
    let later = Listener("later", log)
    proxy.add(later)
    #expect(try await desk.removeHere(proxy, later) == 1)
    try await message.value
    // The message is over, and so nothing is in the way.
    for _ in 0..<3 { try? await Self.load(on: proxy) }
    #expect(try await desk.removeHere(proxy, target) == 1)
  }

  @Test("inside of a message that is awaited it is refused, and removes nothing")
  func inside() async throws {
    let proxy = MulticastProxy()
    let target = ClosureTarget()
    try target.register("load") { () async throws -> Void in
      try await proxy.removeAndWait(target)
    }
    proxy.add(target)
    await #expect(throws: ForwardingError.wouldDeadlock) { try await Self.load(on: proxy) }
    #expect(proxy.targets.count == 1)
    proxy.removeAll()
  }

  @Test("a wait that is awaited waits for a message that a thread is in, too")
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
  }

  @Test("messages that end in time leave no timer of their lanes behind")
  func noTimers() async {
    await #expect(processExitsWith: .success) {
      let proxy = MulticastProxy()
      let target = ClosureTarget()
      try target.register("load") { () async -> Void in }
      let queue = DispatchQueue(label: "timers")
      proxy.add(target, on: .blocking(queue, deadline: .seconds(3600)))
      for _ in 0..<2000 { try await AwaitedRemovalTests.load(on: proxy) }
      require(Deadlines.shared.count == 0, "\(Deadlines.shared.count) timers are left")
      _exit(0)
    }
  }

  @Test("the deadline of a lane comes where the process may open no more files")
  func noFiles() async {
    await #expect(processExitsWith: .success) {
      let proxy = MulticastProxy()
      let target = ClosureTarget()
      try target.register("load") { () async throws -> Void in
        try await Task.sleep(for: .seconds(3600))
      }
      let queue = DispatchQueue(label: "no files")
      proxy.add(target, on: .blocking(queue, deadline: .milliseconds(50)))
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
      none.rlim_cur = rlim_t(dup(2))
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
      let report = try await AwaitedRemovalTests.load.report(on: proxy)
      if case .timedOut = report.entries[0].outcome { _exit(0) }
      require(false, "\(report.entries[0].outcome)")
    }
  }
}
