// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Foundation
import Testing

@testable import Forwarding
@testable import Invocations

@Suite("Events")
struct EventTests {
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

  @Test("the diagnostics of a proxy with a listener do not go to the process's handler")
  func ownListener() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let proxy = MulticastProxy()
      let told = Log()
      proxy.onDiagnostic = { told.add(caseName($0)) }
      proxy.add(ClosureTarget())
      try did(1, on: proxy)
      exit(
        told.all == ["diedUnreached", "unanswered"] ? EXIT_SUCCESS : EXIT_FAILURE)
    }
    #expect(printedLines(result) == [])
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
