import Dispatch
import Invocations
import Testing

@testable import Forwarding

@Suite("Multicast: who is a target")
struct MembershipTests {
  @Test("targets are weak by default, strong on request; the dead vanish as they are met")
  func weak() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let diagnostics = Log()
    proxy.onDiagnostic = { diagnostics.add("\($0)".prefix { $0 != "(" }.description) }
    var gone: Listener? = Listener("gone", log)
    try proxy.add(gone!)
    try proxy.add(Listener("kept", log), strongly: true)
    try did(1, on: proxy)
    gone = nil
    #expect(proxy.count == 1 && proxy.registrationCount == 2)
    try did(2, on: proxy)
    #expect(log.all == ["gone 1", "kept 1", "kept 2"])
    #expect(proxy.registrationCount == 1 && diagnostics.all == ["deadTarget"])
  }

  @Test("insertion order, and higher priorities first")
  func order() throws {
    let log = Log()
    let proxy = MulticastProxy()
    for (name, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", 5), ("e", -1)] {
      try proxy.add(Listener(name, log), strongly: true, priority: priority)
    }
    try did(0, on: proxy)
    #expect(log.all == ["b 0", "d 0", "a 0", "c 0", "e 0"])
  }

  @Test("duplicates by identity and queue: ignored, allowed or refused")
  func duplicates() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let target = Listener("x", log)
    let token = try proxy.add(target)
    #expect(try proxy.add(target) == token && proxy.count == 1)
    try proxy.add(target, on: .blocking(DispatchQueue(label: "own")))
    #expect(proxy.count == 2)
    proxy.duplicates = .refuse
    #expect(throws: ForwardingError.duplicateTarget(className: "Listener")) {
      try proxy.add(target)
    }
    proxy.duplicates = .allow
    #expect(try proxy.add(target) != token)
    try did(1, on: proxy)
    #expect(log.count == 3)
  }

  @Test("removal by token, target, queue, group, all; scoped registrations end with their object")
  func removal() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let queue = DispatchQueue(label: "removal")
    let (a, b) = (Listener("a", log), Listener("b", log))
    let token = try proxy.add(a)
    try proxy.add(a, on: .blocking(queue))
    try proxy.add(b, group: "g")
    #expect(proxy.contains(a) && proxy.contains(token))
    #expect(proxy.remove(token) && !proxy.remove(token))
    #expect(proxy.remove(a, on: .caller) == 0 && proxy.remove(a, on: .blocking(queue)) == 1)
    #expect(!proxy.contains(a) && proxy.removeGroup("g") == 1 && proxy.isEmpty)
    do {
      let scope = try proxy.scoped(a)
      #expect(proxy.contains(a))
      withExtendedLifetime(scope) {}
    }
    #expect(!proxy.contains(a))
    try proxy.add(a)
    try proxy.add(a, on: .blocking(queue))
    #expect(proxy.remove(a) == 2)
    try proxy.add(a)
    try proxy.add(b)
    #expect(proxy.removeAll() == 2)
    try did(1, on: proxy)
    #expect(log.all.isEmpty)
  }

  @Test("once: the registration ends with its first message")
  func once() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let target = Listener("x", log)
    try proxy.add(target, once: true)
    try did(1, on: proxy)
    try did(2, on: proxy)
    #expect(log.all == ["x 1"] && proxy.registrationCount == 0)
  }

  @Test("blocking is counted")
  func blocking() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let target = Listener("x", log)
    let token = try proxy.add(target)
    #expect(proxy.block(token) && proxy.block(token))
    try did(1, on: proxy)
    #expect(proxy.unblock(token))
    try did(2, on: proxy)
    #expect(proxy.unblock(token) && !proxy.unblock(token))
    try did(3, on: proxy)
    #expect(log.all == ["x 3"])
  }

  @Test("counting and listing by class and by selector; too many targets are noticed")
  func listing() throws {
    let proxy = MulticastProxy()
    let diagnostics = Log()
    proxy.onDiagnostic = { diagnostics.add("\($0)") }
    proxy.expectedTargets = 2
    let listeners = [Listener("1", Log()), Listener("2", Log())]
    let closure = ClosureTarget()
    for listener in listeners { try proxy.add(listener) }
    try proxy.add(closure)
    #expect(diagnostics.all == ["tooManyTargets(count: 3, limit: 2)"])
    #expect(proxy.targets(of: Listener.self).count == 2 && proxy.targets.count == 3)
    #expect(try proxy.targets(respondingTo: Selector("did:")).count == 2)
    #expect(try proxy.responds(to: Selector("did:")) && !proxy.responds(to: Selector("none")))
  }

  @Test("a proxy is not its own target, not through another one either")
  func cycles() throws {
    let proxy = MulticastProxy()
    #expect(throws: ForwardingError.ownTarget) { try proxy.add(proxy) }
    let other = MulticastProxy()
    try proxy.add(other)
    try other.add(proxy)
    let log = Log()
    let listener = Listener("x", log)
    try other.add(listener)
    // `responds` of one asks the other, and so on: that is a cycle of its own.
    let report = try proxy.deliver(did.invocation(1))
    #expect(report.entries.count == 1)
    #expect(log.all == ["x 1"])
    let error = try #require(report.errors.first as? InvocationError)
    #expect(error == .forwardingCycle(className: "MulticastProxy", selector: "did:"))
  }
}

@Suite("Multicast: results and failures")
struct MulticastResultTests {
  static func proxy(_ names: [String], _ log: Log = Log()) throws -> MulticastProxy {
    let proxy = MulticastProxy()
    for name in names { try proxy.add(Listener(name, log), strongly: true) }
    return proxy
  }

  @Test("the last answer counts, or the first, which ends the delivery")
  func rules() throws {
    let log = Log()
    let proxy = try Self.proxy(["1", "2", "3"], log)
    #expect(try Messages.value(on: proxy) == 3)
    log.clear()
    proxy.results = .first
    #expect(try Messages.value(on: proxy) == 1 && log.all == ["1"])
    let report = try proxy.deliver(Messages.value.invocation())
    #expect(report.entries.map { "\($0.outcome)" } == ["answered", "notCalled", "notCalled"])
  }

  @Test("all answers, and folding with an early stop")
  func combined() throws {
    let proxy = try Self.proxy(["1", "2", "3", "4"])
    #expect(try proxy.all(Messages.value.invocation(), as: Int32.self) == [1, 2, 3, 4])
    let sum = try proxy.fold(Messages.value.invocation(), as: Int32.self, into: 0) { sum, value in
      sum += Int(value)
      return sum >= 3 ? .stop : .next
    }
    #expect(sum == 3)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try proxy.fold(Messages.value.invocation(), as: Int32.self, into: 0) { _, _ in throw Stop() }
    }
  }

  @Test("one that throws loses nobody else; the report names each outcome")
  func failures() throws {
    let proxy = try Self.proxy(["1", "2", "3"])
    try proxy.add(ClosureTarget(), strongly: true)
    let report = try proxy.deliver(Messages.maybe.invocation(true))
    #expect(report.answered == 2)
    #expect(
      report.entries.map { "\($0.outcome)".prefix { $0 != "(" } } == [
        "answered", "failed", "answered", "noMethod",
      ])
    #expect(
      report.entries.map(\.className) == ["Listener", "Listener", "Listener", "ClosureTarget"])
    #expect(throws: Failure(name: "2")) { try Messages.maybe(true, on: proxy) }
  }

  @Test("an answer survives a later target that throws")
  func survivingAnswer() throws {
    let proxy = try Self.proxy(["1", "2"])
    let call = try Messages.maybe.invocation(true)
    _ = try proxy.deliver(call)
    #expect(try call.result(as: Int32.self) == 1)
  }

  @Test("a method of other types is a failure of that target alone")
  func mismatch() throws {
    let proxy = try Self.proxy(["1"])
    let other = ClosureTarget()
    try other.on("value") { (_: ClosureTarget) -> Double in 0.5 }
    try proxy.add(other)
    let report = try proxy.deliver(Messages.value.invocation())
    #expect(report.answered == 1)
    #expect(
      report.errors.first as? InvocationError
        == .signatureMismatch(name: "value", expected: "d@:", given: "i@:"))
  }

  @Test("nobody answers: nothing for void; for a value an error or zero, by choice")
  func nobody() throws {
    let proxy = MulticastProxy()
    let diagnostics = Log()
    proxy.onDiagnostic = { diagnostics.add("\($0)") }
    try did(1, on: proxy)
    #expect(throws: ForwardingError.nobodyAnswered(selector: "value")) {
      try Messages.value(on: proxy)
    }
    proxy.whenNobodyAnswers = .zero
    #expect(try Messages.value(on: proxy) == 0)
    #expect(diagnostics.all == ["unanswered(did:)", "unanswered(value)", "unanswered(value)"])
    // An older result does not pass for an answer.
    proxy.whenNobodyAnswers = .error
    let call = try Messages.value.invocation()
    try call.setResult(Int32(7))
    _ = try proxy.deliver(call)
    #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
  }

  @Test("a target that changes arguments on its way changes no other target's")
  func argumentIsolation() throws {
    let log = Log()
    let changing = InterceptingProxy(Listener("changed", log))
    try changing.before("did:") { try $0.setArgument(Int32(99), at: 2) }
    let proxy = MulticastProxy()
    try proxy.add(changing)
    let plain = Listener("plain", log)
    try proxy.add(plain)
    try did(1, on: proxy)
    #expect(log.all == ["changed 99", "plain 1"])
  }

  @Test("memory behind a pointer is seen by later targets as earlier ones left it")
  func sharedMemory() throws {
    class Adder {}
    try MethodTable.of(Adder.self).register("addTo:") {
      (_: Adder, number: UnsafeMutablePointer<Int32>) in
      number.pointee = number.pointee * 10 + 1
    }
    let proxy = MulticastProxy()
    for _ in 0..<3 { try proxy.add(Adder(), strongly: true) }
    var number: Int32 = 0
    _ = try withUnsafeMutablePointer(to: &number) { pointer in
      try Message<NoResult, UnsafeMutablePointer<Int32>>("addTo:")(pointer, on: proxy)
    }
    #expect(number == 111)
  }

  @Test("a data source gives one answer: first responder, fallback, default, or an error")
  func dataSource() throws {
    let source = DataSourceProxy()
    let log = Log()
    #expect(throws: ForwardingError.nobodyAnswered(selector: "value")) {
      try Messages.value(on: source)
    }
    try source.setDefault(Int32(-1), for: "value")
    #expect(try Messages.value(on: source) == -1)
    let fallback = Listener("50", log)
    source.setFallback(fallback)
    #expect(try Messages.value(on: source) == 50)
    let (one, two) = (Listener("1", log), Listener("2", log))
    try source.add(ClosureTarget(), strongly: true)
    try source.add(one)
    try source.add(two)
    log.clear()
    #expect(try Messages.value(on: source) == 1 && log.all == ["1"])
    #expect(throws: Failure(name: "1")) { try Messages.fail(on: source) }
  }
}

@Suite("Multicast: changes during a delivery (85 to 96)")
struct MulticastMutationTests {
  /// Runs `action` when it gets its message.
  private func acting(_ name: String, _ log: Log, _ action: @escaping @Sendable () throws -> Void)
    throws -> ClosureTarget
  {
    let target = ClosureTarget()
    try target.on("did:") { (_: ClosureTarget, value: Int32) in
      log.add(name)
      try action()
    }
    return target
  }

  @Test("85: who removes itself finishes; who is removed before its turn is skipped, and reported")
  func removing() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let third = try acting("third", log) {}
    let first = ClosureTarget()
    try first.on("did:") { (self: ClosureTarget, _: Int32) in
      log.add("first")
      proxy.remove(self)
      proxy.remove(third)
    }
    try proxy.add(first)
    try proxy.add(try acting("second", log) {}, strongly: true)
    try proxy.add(third)
    let report = try proxy.deliver(did.invocation(0))
    #expect(log.all == ["first", "second"])
    #expect(report.entries.map { "\($0.outcome)" } == ["answered", "answered", "removed"])
    try proxy.add(try acting("all", log) { proxy.removeAll() }, strongly: true, priority: 1)
    #expect(
      try proxy.deliver(did.invocation(0)).entries.map { "\($0.outcome)" } == [
        "answered", "removed",
      ])
  }

  @Test("86: who is added is not called this round")
  func adding() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let late = try acting("late", log) {}
    try proxy.add(try acting("adder", log) { try proxy.add(late) }, strongly: true)
    try did(1, on: proxy)
    #expect(log.all == ["adder"])
    try did(2, on: proxy)
    #expect(log.all == ["adder", "adder", "late"])
  }

  @Test(
    "87: a target that dies between snapshot and turn is dead; one whose last reference goes in its own call lives through it"
  )
  func dying() throws {
    let log = Log()
    let proxy = MulticastProxy()
    nonisolated(unsafe) var victim: ClosureTarget? = try acting("victim", log) {}
    nonisolated(unsafe) var own: ClosureTarget?
    own = try acting("own", log) {
      own = nil
      victim = nil
    }
    try proxy.add(own!)
    try proxy.add(victim!)
    #expect(
      try proxy.deliver(did.invocation(0)).entries.map { "\($0.outcome)" } == ["answered", "dead"])
    #expect(log.all == ["own"] && proxy.registrationCount == 0)
  }

  @Test("89: sends inside of sends end at a limit, not with the stack")
  func recursion() throws {
    let log = Log()
    let proxy = MulticastProxy()
    try proxy.add(try acting("deeper", log) { try did(0, on: proxy) }, strongly: true)
    #expect(throws: InvocationError.forwardedTooDeeply(limit: 200, selector: "did:")) {
      try did(0, on: proxy)
    }
    #expect((50...200).contains(log.count))
    // The limit is the thread's, and free again.
    let plain = MulticastProxy()
    try plain.add(try acting("plain", log) {}, strongly: true)
    try did(0, on: plain)
  }

  @Test("90: blocking on one's own queue is an error, not a wait")
  func deadlock() throws {
    let queue = DispatchQueue(label: "own queue")
    let log = Log()
    let proxy = MulticastProxy()
    let target = Listener("x", log)
    try proxy.add(target, on: .blocking(queue))
    try did(1, on: proxy)
    #expect(log.all == ["x 1"])
    let outcomes = try queue.sync {
      try proxy.deliver(did.invocation(2)).entries.map { "\($0.outcome)" }
    }
    #expect(outcomes == ["wouldDeadlock"] && log.count == 1)
  }

  @Test("93: one throws, one is late, one has other types: three outcomes, and the others answer")
  func mixed() throws {
    let queue = DispatchQueue(label: "slow")
    let proxy = MulticastProxy()
    let log = Log()
    try proxy.add(try acting("throws", log) { throw Failure(name: "t") }, strongly: true)
    let gate = DispatchSemaphore(value: 0)
    let slow = try acting("slow", log) { gate.wait() }
    try proxy.add(slow, on: .blocking(queue, deadline: .milliseconds(30)))
    let other = ClosureTarget()
    try other.on("did:") { (_: ClosureTarget, _: Double) in }
    try proxy.add(other)
    try proxy.add(try acting("good", log) {}, strongly: true)
    let report = try proxy.deliver(did.invocation(1))
    gate.signal()
    queue.sync {}
    #expect(
      report.entries.map { "\($0.outcome)".prefix { $0 != "(" } } == [
        "failed", "timedOut", "failed", "answered",
      ])
    #expect(report.entries[1].ticket?.outcome.map { "\($0)" } == "timedOut")
  }

  @Test("94: a message that is dropped without having run is cancelled, not lost")
  func cancelled() throws {
    let member = MulticastMember(
      token: .init(id: 1), reference: ObjectReference(self.dummy, isStrong: true), lane: .caller,
      priority: 0, group: nil, isOnce: false)
    var job: DeliveryJob? = try DeliveryJob(did.invocation(1), member, dummy)
    let ticket = try #require(job?.ticket)
    #expect(ticket.outcome == nil && ticket.wait(timeout: .now()) == nil)
    job = nil
    #expect(ticket.outcome.map { "\($0)" } == "cancelled")
  }

  private let dummy = ClosureTarget()

  @Test("94: a registration that ends while its message waits in a queue leaves that outcome")
  func removedWhileQueued() throws {
    let proxy = MulticastProxy()
    let target = Listener("x", Log())
    var queue: DispatchQueue? = DispatchQueue(label: "inactive", attributes: .initiallyInactive)
    try proxy.add(target, on: .queue(queue!))
    let report = try proxy.deliver(did.invocation(1))
    #expect(report.queued == 1)
    proxy.removeAll()
    queue?.activate()
    queue = nil
    let ticket = try #require(report.entries[0].ticket)
    #expect(ticket.wait(timeout: .now() + 5).map { "\($0)" } == "removed")
  }

  @Test("95: 100,000 dead targets are purged by one delivery, in linear time")
  func manyDead() throws {
    let proxy = MulticastProxy()
    proxy.duplicates = .allow
    var targets: [Listener]? = (0..<100_000).map { _ in Listener("x", Log()) }
    for target in targets! { try proxy.add(target) }
    targets = nil
    let clock = ContinuousClock()
    var report = DeliveryReport()
    let time = try clock.measure { report = try proxy.deliver(did.invocation(1)) }
    #expect(report.entries.count == 100_000)
    #expect(proxy.registrationCount == 0)
    #expect(time < .seconds(10))
  }

  @Test("96: a combiner that stops or throws leaves the others uncalled, and said so")
  func combiner() throws {
    let log = Log()
    let proxy = try MulticastResultTests.proxy(["1", "2", "3"], log)
    let report = try proxy.deliver(Messages.value.invocation()) { call in
      try call.result(as: Int32.self) == 2 ? .stop : .next
    }
    #expect(report.entries.map { "\($0.outcome)" } == ["answered", "answered", "notCalled"])
    #expect(throws: Failure(name: "combiner")) {
      try proxy.deliver(Messages.value.invocation()) { _ in throw Failure(name: "combiner") }
    }
    #expect(log.all == ["1", "2", "1"])
  }
}

@Suite("Multicast: queues and actors")
struct MulticastLaneTests {
  @Test("a queued message is a copy: the sender may change its own, and texts live on")
  func queued() throws {
    let log = Log()
    let queue = DispatchQueue(label: "queued")
    let proxy = MulticastProxy()
    let target = Listener("x", log)
    try proxy.add(target, on: .queue(queue))
    queue.suspend()
    let call = try Messages.text.invocation("first")
    let report = try proxy.deliver(call)
    try call.setArgument("second", at: 2)
    #expect(report.queued == 1 && log.all.isEmpty)
    queue.resume()
    let outcome = report.entries[0].ticket?.wait(timeout: .now() + 5)
    #expect(outcome?.isAnswer == true && log.all == ["x first"])
  }

  @Test("borrowed memory and wanted results are refused, with the reason")
  func refused() throws {
    let queue = DispatchQueue(label: "refused")
    let proxy = MulticastProxy()
    let target = ClosureTarget()
    try target.on("at:") { (_: ClosureTarget, _: UnsafeRawPointer?) in }
    try target.on("value") { (_: ClosureTarget) -> Int32 in 1 }
    try proxy.add(target, on: .queue(queue))
    var byte: UInt8 = 0
    let pointing = try Message<NoResult, UnsafeRawPointer?>("at:")
    try withUnsafeBytes(of: &byte) { bytes in
      let report = try proxy.deliver(pointing.invocation(bytes.baseAddress))
      #expect(report.errors.first as? ForwardingError == .borrowedArgument(index: 2, type: "^v"))
    }
    #expect(try proxy.deliver(pointing.invocation(nil)).queued == 1)
    #expect(throws: ForwardingError.resultNotAwaited(type: "i")) { try Messages.value(on: proxy) }
    proxy.removeAll()
    try proxy.add(target, on: .queue(queue, ignoringResult: true))
    #expect(try proxy.deliver(Messages.value.invocation()).queued == 1)
    proxy.removeAll()
    try proxy.add(target, on: .blocking(queue, deadline: .seconds(5)))
    #expect(try Messages.value(on: proxy) == 1)
  }

  @Test("what a queued target throws is in the ticket")
  func queuedFailure() async throws {
    let proxy = MulticastProxy()
    let target = ClosureTarget()
    try target.on("did:") { (_: ClosureTarget, _: Int32) throws -> Void in
      throw Failure(name: "late")
    }
    try proxy.add(target, on: .queue(DispatchQueue(label: "failing")))
    let report = try proxy.deliver(did.invocation(1))
    let outcome = await report.entries[0].ticket?.value()
    #expect(outcome?.error as? Failure == Failure(name: "late"))
  }

  @Test("an actor gets its messages in order, the main actor among them")
  func actors() async throws {
    actor Worker {}
    let log = Log()
    let proxy = MulticastProxy()
    let target = Listener("x", log)
    try proxy.add(target, on: .actor(Worker()))
    var tickets: [DeliveryTicket] = []
    for value in 0..<100 {
      tickets += try proxy.deliver(did.invocation(Int32(value))).entries.compactMap(\.ticket)
    }
    for ticket in tickets { #expect(await ticket.value().isAnswer) }
    #expect(log.all == (0..<100).map { "x \($0)" })
    let main = MulticastProxy()
    let checking = ClosureTarget()
    try checking.on("did:") { (_: ClosureTarget, _: Int32) in
      MainActor.assumeIsolated { log.add("main") }
    }
    try main.add(checking, on: .actor(MainActor.shared))
    let ticket = try await Task.detached { try main.deliver(did.invocation(1)).entries[0].ticket }
      .value
    #expect(await ticket?.value().isAnswer == true)
  }

  @Test("an executor gets its messages in order")
  func executors() async throws {
    final class OneQueue: TaskExecutor {
      let queue = DispatchQueue(label: "executor")
      func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      }
    }
    let executor = OneQueue()
    let log = Log()
    let target = ClosureTarget()
    try target.on("did:") { (_: ClosureTarget, value: Int32) in
      dispatchPrecondition(condition: .onQueue(executor.queue))
      log.add("\(value)")
    }
    let proxy = MulticastProxy()
    try proxy.add(target, on: .executor(executor))
    var tickets: [DeliveryTicket] = []
    for value in 0..<50 {
      tickets += try proxy.deliver(did.invocation(Int32(value))).entries.compactMap(\.ticket)
    }
    for ticket in tickets { #expect(await ticket.value().isAnswer) }
    #expect(log.all == (0..<50).map { "\($0)" })
  }

  @Test("a message that comes back over queues is a cycle")
  func queuedCycle() async throws {
    let (one, two) = (MulticastProxy(), MulticastProxy())
    let queue = DispatchQueue(label: "cycle")
    try one.add(two, on: .queue(queue))
    try two.add(one)
    let log = Log()
    let end = Listener("end", log)
    try two.add(end)
    let report = try one.deliver(did.invocation(1))
    let outcome = try #require(await report.entries[0].ticket?.value())
    #expect(
      outcome.error as? InvocationError
        == .forwardingCycle(className: "MulticastProxy", selector: "did:"))
    #expect(log.all == ["end 1"])
  }
}
