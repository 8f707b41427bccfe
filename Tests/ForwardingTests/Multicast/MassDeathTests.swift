// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
import TypeEncodings

@testable import Forwarding
@testable import Invocations

/// The cost of many errors at once. Only ten lines are printed.
@Suite("Mass death and mass failure")
struct MassDeathTests {
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

  @Test("each sender removes a part of very many dead targets, until none is left")
  func parts() async {
    await #expect(processExitsWith: .success) {
      let proxy = MulticastProxy()
      let alive = ClosureTarget()
      try alive.register("did:") { (_: Int32) in }
      proxy.add(alive)
      var doomed = (0..<40_000).map { _ in ClosureTarget() }
      for target in doomed { proxy.add(target) }
      doomed = []
      var counts: [Int] = []
      for _ in 0..<4 {
        try did(1, on: proxy)
        counts.append(proxy.registrationCount)
      }
      require(counts == [40_001 - 16_384, 40_001 - 32_768, 1, 1], "\(counts)")
      _exit(0)
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
    #expect(
      printedLines(result) == [
        "swift-forwarding: 'did:' of Failing ended with an error that its sender does not get: told",
        "swift-forwarding: 'did:' of Failing ended with an error that its sender does not get: Another() "
          + "(and 9999 more lines before)",
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

  @Test("a handler and a listener are notified of each dead target")
  func handler() async {
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
      require(listened.count == 4 && told.count == 4, "\(listened.all)")
    }
  }

  @Test("a wrong name is reported at the first message that has a target")
  func firstTarget() async {
    await #expect(processExitsWith: .success) {
      let told = Log()
      ForwardingEvent.destination = .handler { told.add($0.description) }
      let proxy = MulticastProxy()
      let mistyped = try Message<NoResult>("mistyped")
      try mistyped(on: proxy)
      require(told.count == 0, "\(told.all)")
      proxy.add(ClosureTarget(), strongly: true)
      try mistyped(on: proxy)
      try mistyped(on: proxy)
      require(told.count == 1, "\(told.all)")
    }
  }

  @Test("after a thousand unanswered names, one line says so; without a target, none is used up")
  func lastLine() async {
    await #expect(processExitsWith: .success) {
      let told = Log()
      ForwardingEvent.destination = .handler { told.add($0.description) }
      let proxy = MulticastProxy()
      func send(_ numbers: Range<Int>) throws {
        for number in numbers {
          try Message<NoResult>(Selector(interning: "nobody\(number)"))(on: proxy)
        }
      }
      let target = ClosureTarget()
      proxy.add(target, strongly: true)
      try send(0..<1000)
      proxy.remove(target)
      try send(1000..<1001)
      proxy.add(target, strongly: true)
      try send(1001..<1010)
      require(told.count == 1001, "\(told.count) lines")
      let last = told.all.last ?? ""
      require(
        last
          == "no target of a MulticastProxy answers 1000 selectors and more; further ones are not "
          + "reported", last)
    }
  }

  /// A proxy that sends an unanswered message of its own while it is asked about one.
  private final class Asking: MulticastProxy, @unchecked Sendable {
    let asked = Guarded(0)

    override func methodSignature(for selector: Selector) -> MethodSignature? {
      asked.withLock { $0 += 1 }
      if selector == "declared" { return try? MethodSignature(parsing: "v@:") }
      _ = try? Message<NoResult>(selector)(on: self)
      return nil
    }
  }

  @Test("a proxy may send the message that it is asked about, and is asked once about each name")
  func askedOnce() async {
    await #expect(processExitsWith: .success) {
      let told = Log()
      ForwardingEvent.destination = .handler { told.add($0.description) }
      let proxy = Asking()
      proxy.add(ClosureTarget(), strongly: true)
      for _ in 0..<3 { try Message<NoResult>("mistyped")(on: proxy) }
      require(told.count == 1, "\(told.all)")
      require(proxy.asked.read { $0 } == 1, "asked")
      for _ in 0..<3 { try Message<NoResult>("declared")(on: proxy) }
      require(told.count == 1, "\(told.all)")
      require(proxy.asked.read { $0 } == 2, "asked")
    }
  }
}
