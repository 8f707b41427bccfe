// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

/// A target whose methods suspend.
private final class Worker: MethodDeclaring, @unchecked Sendable {
  let name: Int
  let log: Log
  init(_ name: Int = 1, _ log: Log = Log()) { (self.name, self.log) = (name, log) }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("note:") { (self: Worker, value: Int) in self.log.add("\(value)") }
    methods.register("twice:") { (self: Worker, value: Int) async -> Int in
      self.log.add("\(value) begins")
      for _ in 0..<5 { await Task.yield() }
      return value * 2
    }
    methods.register("place") { (_: Worker) async -> [Bool] in
      var found = [isOnQueue()]
      await Task.yield()
      found.append(isOnQueue())
      return found
    }
    methods.register("fail") { (_: Worker) async throws -> Void in
      await Task.yield()
      throw Failure(name: "lane")
    }
    methods.register("wait") { (self: Worker) async throws -> Void in
      self.log.add("\(self.name) waits")
      do { try await Task.sleep(for: .seconds(1000)) } catch {
        self.log.add("\(self.name) is cancelled")
        throw error
      }
    }
    methods.register("firstIs:") { (self: Worker, quick: Int) async throws -> Int in
      if self.name != quick { try await Task.sleep(for: .seconds(1000)) }
      return self.name
    }
    methods.register("keep:") { (self: Worker, value: Counted) async -> Counted in
      await Task.yield()
      return value
    }
    methods.register("read:at:") {
      (_: Worker, text: String, address: UnsafePointer<Int32>?) async -> Int in
      text.count + (address == nil ? 0 : 1)
    }
    methods.register("give") { (self: Worker) -> Given in
      self.log.add("\(self.name) gives")
      return self.name == 1 ? Given() : SpecialGiven()
    }
    methods.register("meet:") { (_: Worker, meeting: Meeting) async -> Void in
      await meeting.arrive()
    }
  }
}

private class Given: @unchecked Sendable {}
private final class SpecialGiven: Given, @unchecked Sendable {}

/// A point at which several tasks wait for each other.
private actor Meeting {
  private var missing: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []
  init(_ count: Int) { missing = count }
  func arrive() async {
    missing -= 1
    if missing > 0 { return await withCheckedContinuation { waiting.append($0) } }
    for one in waiting { one.resume() }
  }
}

private let note = try! Message<Void, Int>("note:")
private let twice = try! AsyncMessage<Int, Int>("twice:")
private let fail = try! AsyncMessage<Void>("fail")
private let wait = try! AsyncMessage<Void>("wait")
private let firstIs = try! AsyncMessage<Int, Int>("firstIs:")
private let keep = try! AsyncMessage<Counted, Counted>("keep:")
private let meet = try! AsyncMessage<Void, Meeting>("meet:")

private actor Place {}
private let queue = DispatchQueue(label: "awaited lanes")
private let key = DispatchSpecificKey<Bool>()
private func isOnQueue() -> Bool { DispatchQueue.getSpecific(key: key) == true }

private let lanes: [DeliveryLane] = [
  .caller, .queue(queue), .blocking(queue), .blocking(queue, deadline: .seconds(3600)),
  .actor(Place()), .mainActor,
]

/// A proxy of targets, which it retains.
private func workers(
  _ count: Int = 1, _ log: Log = Log(), on lane: DeliveryLane = .caller
) -> MulticastProxy {
  let proxy = MulticastProxy()
  for name in 1...count { proxy.add(Worker(name, log), strongly: true, on: lane) }
  return proxy
}

@Suite("Awaited deliveries")
struct AwaitedDeliveryTests {
  let log = Log()

  // MARK: Several targets

  @Test("all targets begin before any of them ends")
  func atOnce() async throws {
    try await meet.message(Meeting(16), on: workers(16), concurrently: true)
  }

  @Test("the first answer ends a delivery, and cancels the other targets, which is no error")
  func first() async throws {
    let proxy = workers(16)
    proxy.resultRule = .first
    #expect(try await firstIs.message(9, on: proxy, concurrently: true) == 9)
    let report = try await firstIs.message.report(9, on: proxy, concurrently: true)
    #expect(report.errors.isEmpty)
    #expect(report.entries[8].outcome.isAnswer)
  }

  @Test("an async method takes another pointee type of the sender, also beside text")
  func besideText() async throws {
    let read = try AsyncMessage<Int, String, UnsafeRawPointer?>("read:at:")
    #expect(try await read("abc", UnsafeRawPointer(bitPattern: 8), on: Worker()) == 4)
  }

  @Test("an answer that cannot be read is the error of a report, or of the sender")
  func unreadable() async throws {
    let proxy = workers(3, log)
    let give = try Message<SpecialGiven>("give")
    #expect(throws: InvocationError.self) { try give.report(on: proxy) }
    #expect(log.all == ["1 gives", "2 gives", "3 gives"])
    await #expect(throws: InvocationError.self) {
      try await give.report(on: proxy, concurrently: false)
    }
    #expect(log.count == 6)
    for concurrently in [false, true] {
      await #expect(throws: InvocationError.self) {
        try await give.all(on: proxy, concurrently: concurrently)
      }
    }
  }

  @Test("a synchronous send reports async methods as errors, and calls the others")
  func notAwaited() throws {
    let proxy = workers()
    let quick = ClosureTarget()
    try quick.register("twice:") { (value: Int) in value * 2 }
    proxy.add(quick)
    let report = try twice.message.report(4, on: proxy)
    #expect(report.errors.map { $0 as? InvocationError } == [.notAwaited("twice:")])
    #expect(report.answers == [8])
  }

  @Test(
    "cancellation reaches each suspended target, and no other target begins",
    arguments: [(false, 1), (true, 16)])
  func cancelled(concurrently: Bool, _ begun: Int) async throws {
    let proxy = workers(16, log)
    let task = Task { try await wait.message(on: proxy, concurrently: concurrently) }
    while log.count < begun { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(log.all.count { $0.hasSuffix("waits") } == begun)
    #expect(log.all.count { $0.hasSuffix("is cancelled") } == begun)
  }

  @Test("arguments and results live as long as they are used", arguments: [false, true])
  func lifetimes(concurrently: Bool) async throws {
    do {
      let answers = try await keep.message.all(
        Counted(log), on: workers(5), concurrently: concurrently)
      #expect(answers.count == 5)
      withExtendedLifetime(answers) { #expect(alive(log) == 1) }
    }
    #expect(alive(log) == 0)
  }

  @Test("a data source awaits its targets, then its fallback")
  func dataSource() async throws {
    let source = MulticastProxy(asksOne: true)
    let (target, fallback) = (Worker(1, Log()), Worker(2, Log()))
    source.setFallback(fallback, strongly: true)
    #expect(try await twice(4, on: source) == 8)
    source.add(target, strongly: true)
    #expect(try await twice(5, on: source) == 10)
    #expect(try await twice.message.all(6, on: source, concurrently: false) == [12, 12])
    #expect(target.log.all == ["5 begins", "6 begins"])
    #expect(fallback.log.all == ["4 begins", "6 begins"])
  }

  // MARK: Lanes

  @Test(
    "its answer, its error and its cancellation reach an async method's sender", arguments: lanes)
  func ends(_ lane: DeliveryLane) async throws {
    let proxy = workers(1, log, on: lane)
    #expect(try await twice(4, on: proxy) == 8)
    #expect(try await twice.message(5, on: proxy, concurrently: true) == 10)
    await #expect(throws: Failure(name: "lane")) { try await fail(on: proxy) }
    let task = Task { try await wait(on: proxy) }
    while log.all.last != "1 waits" { try? await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("a method may await a message on the lane that it runs on", arguments: lanes)
  func inside(_ lane: DeliveryLane) async throws {
    let (proxy, outer) = (workers(on: lane), ClosureTarget())
    try outer.register(
      "ask:",
      Implementation { (_: ClosureTarget, value: Int) async throws -> Int in
        try await twice(value, on: proxy)
      })
    proxy.add(outer, on: lane)
    #expect(try await AsyncMessage<Int, Int>("ask:")(4, on: proxy) == 8)
  }

  @Test("an async method stays on its queue, before and after it is suspended")
  func place() async throws {
    queue.setSpecific(key: key, value: true)
    let proxy = workers(on: .queue(queue))
    #expect(try await AsyncMessage<[Bool]>("place")(on: proxy) == [true, true])
  }

  @Test("a message that waits for its queue is dropped when its sender is cancelled")
  func cancelledBefore() async {
    let busy = DispatchQueue(label: "busy")
    let gate = DispatchSemaphore(value: 0)
    busy.async { gate.wait() }
    let proxy = workers(1, log, on: .queue(busy))
    let task = Task { try await twice(4, on: proxy) }
    await Task.yield()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    gate.signal()
    busy.sync {}
    #expect(log.all.isEmpty)
  }

  @Test("a deadline ends the wait, and cancels the method")
  func deadline() async throws {
    let proxy = workers(1, log, on: .blocking(queue, deadline: .seconds(1)))
    let late = ForwardingError.timedOut(
      .init(selector: "wait", target: Worker.self, queue: "awaited lanes"))
    await #expect(throws: late) { try await wait(on: proxy) }
    for _ in 0..<60_000 where log.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(log.all == ["1 waits", "1 is cancelled"])
  }

  @Test("messages that end in time leave no timers of their lanes")
  func noTimers() async {
    await #expect(processExitsWith: .success) {
      let proxy = workers(on: .blocking(queue, deadline: .seconds(3600)))
      for _ in 0..<2000 { _ = try await twice(1, on: proxy) }
      require(Deadlines.shared.count == 0, "\(Deadlines.shared.count) timers are left")
      _exit(0)
    }
  }

  @Test("the deadline of a lane works when the process may open no more files")
  func noFiles() async {
    await #expect(processExitsWith: .success) {
      let proxy = workers(on: .blocking(queue, deadline: .milliseconds(50)))
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
      none.rlim_cur = rlim_t(dup(2))
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
      let message = try AsyncMessage<Void>("wait").message
      let report = try await message.report(on: proxy, concurrently: false)
      if case .failed(ForwardingError.timedOut) = report.entries[0].outcome { _exit(0) }
      require(false, "\(report.entries[0].outcome)")
    }
  }

  @Test("messages that are not awaited begin in order on an actor's lane, and may suspend")
  func order() async throws {
    let proxy = workers(1, log, on: .actor(Place()))
    let start = try Message<NoResult, Int>("twice:")
    var tickets: [DeliveryTicket?] = []
    for value in 0..<8 { tickets.append(try start.report(value, on: proxy).entries[0].ticket) }
    for ticket in tickets { #expect(await ticket?.value().isAnswer == true) }
    #expect(log.all == (0..<8).map { "\($0) begins" })
  }

  @Test(
    "an awaited message does not overtake one that is not awaited",
    arguments: [DeliveryLane.queue(queue), .actor(Place())])
  func overtaking(_ lane: DeliveryLane) async throws {
    let proxy = workers(1, log, on: lane)
    for value in 0..<20 {
      try note(value, on: proxy)
      try await AsyncMessage(note)(value + 100, on: proxy)
    }
    #expect(log.all == (0..<20).flatMap { ["\($0)", "\($0 + 100)"] })
  }

  // MARK: Forwarding

  /// An object that forwards every message, at once or awaited.
  private final class Passing: ForwardingProxy, @unchecked Sendable {
    var next: AnyObject?
    init(_ next: AnyObject? = nil) { self.next = next }

    override func signature(for invocation: Invocation) -> MethodSignature? {
      invocation.methodSignature
    }
    override func forward(_ invocation: Invocation) throws { try invocation.setResult(7) }
    override nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws {
      guard let next else { return try forward(invocation) }
      // The thread may change.
      await Task.yield()
      try await invocation.invokeAwaiting(on: next)
      try invocation.setResult(try invocation.result(as: Int.self) + 1)
    }
  }

  @Test("an object may answer a message that it forwards at once, or await it")
  func forwarding() async throws {
    #expect(try await twice(4, on: Passing(nil)) == 7)
    #expect(try await twice(4, on: Passing(Worker())) == 9)
  }

  @Test("a circle of objects is an error, also if they suspend within it")
  func circle() async throws {
    let one = Passing()
    one.next = Passing(one)
    let cycle = InvocationError.forwardingCycle("twice:", type: SwiftType(Passing.self))
    await #expect(throws: cycle) { try await twice(4, on: one) }
    one.next = nil
  }

  @Test(
    "a task that outlives the step of its parent neither counts nor keeps it, however many overlap")
  func overlapping() async throws {
    final class Kept: @unchecked Sendable {
      // SAFETY: each generation begins after the one before.
      weak var step: AwaitedStep?
    }
    let (generations, early) = (600, Kept())
    let begun = (0...generations).map { _ in AsyncStream<Void>.makeStream() }
    let ends = AsyncStream<(any Error)?>.makeStream()
    let proxy = MulticastProxy()
    let target = ClosureTarget()
    let go = try AsyncMessage<Void, Int>("go:")
    try target.register(
      "go:",
      Implementation { (_: ClosureTarget, left: Int) async throws -> Void in
        if left == generations - 100 {
          early.step = AwaitedStep.current
          #expect(early.step != nil)
        }
        begun[left].continuation.yield()
        if left == 0 {
          ends.continuation.yield(nil)
          return
        }
        Task {
          do {
            try await go(left - 1, on: proxy)
          } catch {
            ends.continuation.yield(error)
            begun[left - 1].continuation.yield()
          }
        }
        // This step ends when the next one has begun, so that at most two are open.
        for await _ in begun[left - 1].stream { break }
      })
    proxy.add(target)
    try await go(generations, on: proxy)
    for await end in ends.stream {
      #expect(end == nil)
      #expect(early.step == nil)
      break
    }
    withExtendedLifetime(target) {}
  }

  @Test("a handler around the target may suspend, and await the message that it sends on")
  func around() async throws {
    let proxy = InterceptingProxy(Worker())
    proxy.around(
      "twice:",
      awaiting: { call, proceed in
        await Task.yield()
        try call.setArgument(try call.argument(at: 2, as: Int.self) + 1, at: 2)
        try await proceed()
        try call.setResult(try call.result(as: Int.self) + 100)
      })
    #expect(try await twice(4, on: proxy) == 110)
    #expect(throws: InvocationError.notAwaited("twice:")) { try twice.message(4, on: proxy) }
  }
}
