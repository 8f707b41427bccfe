// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Foundation
import Testing
import TypeEncodings

@testable import Invocations

@Suite("Events")
struct EventTests {
  // MARK: What a listener of a proxy is told

  @Test("an error on a lane is reported with target, selector and error")
  func failedLater() async throws {
    let proxy = MulticastProxy()
    let told = Log()
    proxy.onDiagnostic = {
      if case .failed(_, let selector, let error) = $0 { told.add("\(selector) \(error)") }
    }
    let target = ClosureTarget()
    try target.register("did:") { (value: Int32) throws in
      throw Failure(name: "\(value)")
    }
    actor Worker {}
    for lane in [DeliveryLane.queue(.global()), .actor(Worker())] {
      proxy.add(target, on: lane)
    }
    let report = try proxy.deliver(did.invocation(7))
    for entry in report.entries { _ = await entry.ticket?.value() }
    // The ticket is settled first, and the diagnostic is reported right after.
    for _ in 0..<60_000 where told.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(told.all == Array(repeating: #"did: Failure(name: "7")"#, count: 2))
  }

  @Test("a sender that waits receives the error itself; one that timed out does not")
  func failedAwaited() throws {
    let proxy = MulticastProxy()
    let told = Log()
    proxy.onDiagnostic = { told.add(caseName($0)) }
    let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let target = ClosureTarget()
    try target.register("did:") { (value: Int32) throws in
      began.signal()
      if value == 2 { goOn.wait() }
      throw Failure(name: "\(value)")
    }
    let queue = DispatchQueue(label: "awaited")
    proxy.add(target, on: .blocking(queue, deadline: .seconds(300)))
    #expect(throws: Failure(name: "1")) { try did(1, on: proxy) }
    began.wait()
    #expect(told.all.isEmpty)
    proxy.add(target, on: .blocking(queue, deadline: .milliseconds(20)))
    let late = ForwardingError.timedOut(
      .init(selector: "did:", target: ClosureTarget.self, queue: "awaited"))
    // On a busy machine the time may run out before the target begins; then it never runs.
    repeat {
      #expect(throws: late) { try did(2, on: proxy) }
    } while began.wait(timeout: .now() + .milliseconds(20)) == .timedOut
    goOn.signal()
    queue.sync {}
    #expect(told.all == ["failed"])
  }

  @Test("what a listener causes itself is not told to it")
  func ownEvents() throws {
    let proxy = MulticastProxy()
    let told = Log()
    proxy.onDiagnostic = { [weak proxy] diagnostic in
      told.add("\(diagnostic)")
      if let proxy { _ = try? did(1, on: proxy) }
    }
    try did(1, on: proxy)
    try did(2, on: proxy)
    #expect(told.count == 2)
  }

  @Test("the listener is told of each dead target, and the process of none")
  func ownListener() async {
    await #expect(processExitsWith: .success) {
      let told = Log()
      ForwardingEvent.destination = .handler { told.add($0.description) }
      let proxy = MulticastProxy()
      for _ in 0..<3 { proxy.add(ClosureTarget()) }
      proxy.add(Other())
      try did(1, on: proxy)
      require(told.count == 4 && Set(told.all).count == 2, "\(told.all)")
      let listened = Log()
      proxy.onDiagnostic = { listened.add(caseName($0)) }
      for _ in 0..<3 { proxy.add(ClosureTarget()) }
      try did(1, on: proxy)
      let expected = Array(repeating: "diedUnreached", count: 3) + ["unanswered"]
      require(listened.all == expected && told.count == 4, "\(listened.all)")
    }
  }

  @Test("a once-only target that was asked for a method that it has not died reached")
  func asked() throws {
    for lane in [DeliveryLane.caller, .blocking(DispatchQueue(label: "once"))] {
      let (proxy, told) = (MulticastProxy(), Log())
      proxy.onDiagnostic = { told.add(caseName($0)) }
      var target: ClosureTarget? = ClosureTarget()
      proxy.add(target!, on: lane, once: true)
      try did(1, on: proxy)
      target = nil
      try did(2, on: proxy)
      #expect(told.all == ["unanswered", "deadTarget", "unanswered"])
    }
  }

  @Test("adding removes dead targets, so that those of an event that never comes do not pile up")
  func rare() {
    let proxy = MulticastProxy()
    proxy.onDiagnostic = { _ in }
    let alive = (0..<100).map { _ in Other() }
    for target in alive { proxy.add(target) }
    for _ in 0..<10_000 {
      proxy.add(Other())
      #expect(proxy.registrationCount < 300)
    }
    #expect(proxy.count == 100)
    withExtendedLifetime(alive) {}
  }

  private final class Other {}

  // MARK: What the process is told

  @Test("by default each event is one line on stderr")
  func standardError() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      class Misspelt: MethodDeclaring {
        static func declareMethods(_ methods: MethodDeclarations) {
          methods.register("noColon") { (_: Misspelt, _: Int32) in }
          methods.register("didSave:") { (_: Misspelt, _: Int32) throws in
            throw Failure(name: "late")
          }
        }
      }
      let proxy = MulticastProxy()
      let target = Misspelt()
      let queue = DispatchQueue(label: "late")
      proxy.add(target, on: .queue(queue))
      try Message<NoResult, Int32>("didSav:")(1, on: proxy)
      try Message<NoResult, Int32>("didSav:")(2, on: proxy)
      try Message<NoResult, Int32>("didSave:")(3, on: proxy)
      queue.sync {}
      proxy.removeAll()
      proxy.add(Misspelt())
      try Message<NoResult, Int32>("didSave:")(4, on: proxy)
      withExtendedLifetime(target) {}
    }
    #expect(
      printedLines(result) == [
        "swift-forwarding: -[Misspelt noColon] is declared wrongly: "
          + "the selector 'noColon' has 0 colons, but its method takes 1 argument; write one colon for each "
          + "argument, as in 'noColon:'",
        "swift-forwarding: no target of a MulticastProxy answers 'didSav:'; did you mean 'didSave:'?",
        "swift-forwarding: 'didSave:' of Misspelt ended with an error that its sender does not get: "
          + #"Failure(name: "late")"#,
        "swift-forwarding: a target of class Misspelt died before its first message; keep it, or "
          + "add it strongly",
      ])
  }

  @Test("events can be turned off, or go to a handler; a handler that causes events terminates")
  func destinations() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      @Sendable func cause() { EventReports.report(.diedUnreached(SwiftType(Log.self))) }
      ForwardingEvent.destination = .nowhere
      cause()
      let told = Log()
      ForwardingEvent.destination = .handler { event in
        told.add("\(event.kind)")
        cause()
      }
      cause()
      cause()
      exit(told.all == ["diedUnreached", "diedUnreached"] ? EXIT_SUCCESS : EXIT_FAILURE)
    }
    // The event that the handler caused.
    #expect(
      printedLines(result) == [
        "swift-forwarding: a target of class Log died before its first message; keep it, or "
          + "add it strongly"
      ])
  }

  @Test("messages that may stay unanswered are no events: without targets, optional, with an error")
  func unansweredButMeant() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let proxy = MulticastProxy()
      try did(1, on: proxy)
      class Optional {}
      MethodTable.of(Optional.self).adopt(
        try ProtocolDescription("Options", optional: ["did:": "v@:i"]))
      proxy.add(Optional(), strongly: true)
      try did(2, on: proxy)
      do { try Messages.value(on: proxy) } catch ForwardingError.nobodyAnswered { return }
      exit(EXIT_FAILURE)
    }
    #expect(printedLines(result) == [])
  }

  @Test("the error of a callback, and the end of its object, once, go to the process's handler")
  func callbacks() async {
    await #expect(processExitsWith: .success) {
      let told = Log()
      ForwardingEvent.destination = .handler { told.add("\($0.kind) \($0)") }
      let door = try Callback(to: ClosureTarget(), selector: "did:", encoding: "vi")
      let function = try unsafe door.function(as: (@convention(c) (Int32) -> Void).self)
      for index in 0..<3 { function(Int32(index)) }
      let callback = try Callback { (_: Int32) throws -> Int32 in throw Failure(name: "late") }
      let throwing = try unsafe callback.function(as: (@convention(c) (Int32) -> Int32).self)
      require(throwing(1) == 0)
      let expected = [
        "deadReceiver C called the callback of -[ClosureTarget did:], whose object is gone, so C got "
          + "zero; keep the object",
        #"failed a callback threw, and C got zero: Failure(name: "late")"#,
      ]
      require(told.all == expected, "\(told.all)")
    }
  }

  @Test("after a thousand unanswered names, one line says so; without a target, none is used up")
  func lastLine() async {
    await #expect(processExitsWith: .success) {
      let told = Log()
      ForwardingEvent.destination = .handler { told.add($0.description) }
      let proxy = MulticastProxy()
      // A name that no target could answer is reported when there is one.
      let mistyped = try Message<NoResult>("mistyped")
      try mistyped(on: proxy)
      require(told.count == 0, "\(told.all)")
      func send(_ numbers: Range<Int>) throws {
        for number in numbers {
          try Message<NoResult>(Selector(interning: "nobody\(number)"))(on: proxy)
        }
      }
      let target = ClosureTarget()
      proxy.add(target, strongly: true)
      for _ in 0..<2 { try mistyped(on: proxy) }
      require(told.count == 1, "\(told.all)")
      try send(1..<1000)
      proxy.remove(target)
      try send(1000..<1001)
      proxy.add(target, strongly: true)
      try send(1001..<1010)
      let ends = told.all.count { $0.contains("selectors and more") }
      require(told.count == 1001 && ends == 1, "\(told.count) lines, \(ends) of the end")
      let last = told.all.last ?? ""
      require(
        last
          == "no target of a MulticastProxy answers 1000 selectors and more; further ones are not "
          + "reported", last)
    }
  }

  /// A target that sends a message to its proxy again while it is asked about it.
  private final class Asking: MessageForwarding, @unchecked Sendable {
    weak var proxy: MulticastProxy?
    let asked = Log()

    func methodSignature(for selector: Selector) -> MethodSignature? {
      asked.add("\(selector)")
      if selector == "declared" { return try? MethodSignature(parsing: "v@:") }
      if let proxy { _ = try? Message<NoResult>(selector)(on: proxy) }
      return nil
    }
  }

  @Test("a target may send the message that it is asked about, and each name is reported once")
  func askedOnce() async {
    await #expect(processExitsWith: .success) {
      let told = Log()
      ForwardingEvent.destination = .handler { told.add($0.description) }
      let (proxy, target) = (MulticastProxy(), Asking())
      target.proxy = proxy
      proxy.add(target, strongly: true)
      for _ in 0..<3 { try Message<NoResult>("mistyped")(on: proxy) }
      for _ in 0..<3 { try Message<NoResult>("declared")(on: proxy) }
      require(told.all == ["no target of a MulticastProxy answers 'mistyped'"], "\(told.all)")
      // By the first message, and by the one that it sends itself, but by no later one.
      require(target.asked.all == ["mistyped", "mistyped", "declared"], "\(target.asked.all)")
    }
  }

  // MARK: Many at once

  @Test("10,000 dead targets that a message meets are two lines")
  func dead() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let proxy = MulticastProxy()
      let alive = ClosureTarget()
      try alive.register("did:") { (_: Int32) in }
      proxy.add(alive)
      var doomed = (0..<10_000).map { _ in ClosureTarget() }
      for target in doomed { proxy.add(target) }
      doomed = []
      try did(1, on: proxy)
      require(proxy.registrationCount == 1, "\(proxy.registrationCount) are left")
      proxy.add(Other())
      try did(1, on: proxy)
    }
    #expect(
      printedLines(result) == [
        "swift-forwarding: a target of class ClosureTarget died before its first message; keep it, or "
          + "add it strongly",
        "swift-forwarding: a target of class Other died before its first message; keep it, or "
          + "add it strongly (and 9999 more lines before)",
      ])
  }

  /// Counts how often its description is made.
  private struct Told: Error, CustomStringConvertible {
    static let texts = Guarded(0)

    var description: String {
      Self.texts.withLock { $0 += 1 }
      return "told"
    }
  }

  @Test("for 10,000 unheard errors a hundred descriptions are made, and one is printed")
  func failures() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      final class Failing: MethodDeclaring {
        static func declareMethods(_ methods: MethodDeclarations) {
          methods.register("did:") { (_: Failing, _: Int32) throws in throw Told() }
        }
      }
      let proxy = MulticastProxy()
      for _ in 0...10_000 { proxy.add(Failing(), strongly: true) }
      do { try did(1, on: proxy) } catch is Told {}
      let texts = Told.texts.read { $0 }
      require(texts == LineLimit.texts, "\(texts) texts")
      struct Another: Error {}
      EventReports.report(.failed("did:", Failing.self, Another()))
    }
    let line =
      "swift-forwarding: 'did:' of Failing ended with an error that its sender does not get: "
    #expect(
      printedLines(result) == [line + "told", line + "Another() (and 9999 more lines before)"])
  }

  @Test("each line is printed once in a period, ten lines at most, and then the number left out")
  func limit() {
    var limit = LineLimit()
    let begin = ContinuousClock.now
    #expect(limit.admit("0", at: begin) == 0)
    #expect(limit.admit("0", at: begin) == nil)
    #expect((1...9).map { limit.admit("\($0)", at: begin) } == [1] + Array(repeating: 0, count: 8))
    #expect(limit.admit("10", at: begin) == nil)
    #expect(limit.admit("0", at: begin + .seconds(5)) == nil)
    #expect(limit.admit("0", at: begin + .seconds(10)) == 2)
  }
}
