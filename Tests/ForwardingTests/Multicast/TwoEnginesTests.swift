// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Testing
import TypeEncodings

@testable import Invocations

// A proxy delivers in two ways: in C if possible, for senders without a report, and target by
// target in Swift for those with one. The second is the reference for the first.

/// The kinds of targets in a list.
private enum Kind: CaseIterable {
  case native, otherNative, closure, throwing, ownMethod, forwarding, silent, otherTypes
}

/// The base of the targets below: it logs its number, and may fail.
private class Part: CallObject, @unchecked Sendable {
  let number: Int32
  let log: Log
  /// An action of the target when it is called, in addition to logging.
  var action: (() throws -> Void)?

  init(_ number: Int, _ log: Log) {
    self.number = Int32(number)
    self.log = log
  }

  func note(_ value: Int32) -> Int32 {
    log.add("\(number) got \(value)")
    try? action?()
    return number * 1000 + value
  }
}

private final class Native: Part, @unchecked Sendable {}
private final class OtherNative: Part, @unchecked Sendable {}
private final class Closure: Part, @unchecked Sendable {}
private final class Throwing: Part, @unchecked Sendable {}
private final class Silent: Part, @unchecked Sendable {}
private final class OtherTypes: Part, @unchecked Sendable {}

private typealias Score = @convention(c) (UnsafeRawPointer, UnsafeRawPointer, Int32) -> Int32
private typealias Tell = @convention(c) (UnsafeRawPointer, UnsafeRawPointer, Int32) -> Void

private let score: Score = { receiver, _, value in
  Unmanaged<Part>.fromOpaque(receiver).takeUnretainedValue().note(value)
}

private let tell: Tell = { receiver, _, value in
  _ = Unmanaged<Part>.fromOpaque(receiver).takeUnretainedValue().note(value)
}

@Suite("Deliveries with and without a report")
struct TwoEnginesTests {
  /// Once for all tests, which run in parallel.
  private static let registered: Result<Void, any Error> = Result {
    for type in [Native.self, OtherNative.self] as [AnyClass] {
      let table = MethodTable.of(type)
      try table.register(
        "score:", encoding: "i@:i",
        unsafeFunction: unsafeBitCast(score, to: UnsafeRawPointer.self))
      try table.register(
        "tell:", encoding: "v@:i",
        unsafeFunction: unsafeBitCast(tell, to: UnsafeRawPointer.self))
    }
    try MethodTable.of(Closure.self).register("score:") {
      (part: Closure, value: Int32) -> Int32 in
      part.note(value)
    }
    try MethodTable.of(Closure.self).register("tell:") {
      (part: Closure, value: Int32) in
      _ = part.note(value)
    }
    try MethodTable.of(Throwing.self).register("score:") {
      (part: Throwing, value: Int32) throws -> Int32 in
      if part.number % 2 == 0 { throw Failure(name: "\(part.number)") }
      return part.note(value)
    }
    try MethodTable.of(Throwing.self).register("tell:") {
      (part: Throwing, value: Int32) throws in
      if part.number % 2 == 0 { throw Failure(name: "\(part.number)") }
      _ = part.note(value)
    }
    try MethodTable.of(OtherTypes.self).register("score:") {
      (part: OtherTypes, value: Double) in
      _ = part.note(Int32(value))
    }
  }

  init() throws { try Self.registered.get() }

  private func make(_ kind: Kind, _ number: Int, _ log: Log) throws -> AnyObject {
    switch kind {
    case .native: return Native(number, log)
    case .otherNative: return OtherNative(number, log)
    case .closure: return Closure(number, log)
    case .throwing: return Throwing(number, log)
    case .silent: return Silent(number, log)
    case .otherTypes: return OtherTypes(number, log)
    case .forwarding: return MulticastProxy(one: Closure(number, log), strongly: true)
    case .ownMethod:
      let target = ClosureTarget()
      let part = Silent(number, log)
      try target.register("score:") { (value: Int32) -> Int32 in part.note(value) }
      return target
    }
  }

  /// A proxy with targets in random order, some of them dead, blocked or removed.
  private func proxy(
    _ log: Log, _ random: inout SeededGenerator, _ kept: inout [AnyObject]
  ) throws -> MulticastProxy {
    let proxy = MulticastProxy()
    let kinds = Kind.allCases.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
    for number in 0..<Int.random(in: 0...12, using: &random) {
      guard let kind = kinds.randomElement(using: &random) else { break }
      let target = try make(kind, number, log)
      let isStrong = Bool.random(using: &random)
      let token = proxy.add(target, strongly: isStrong)
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where !isStrong: break  // it dies
      case 1:
        proxy.suspend(token)
        kept.append(target)
      case 2:
        proxy.remove(token)
      default: kept.append(target)
      }
    }
    proxy.resultRule = Bool.random(using: &random) ? .first : .last
    proxy.whenNobodyAnswers = .zero
    return proxy
  }

  /// The results of a delivery for the sender, and the log of the targets.
  private struct Outcome: Equatable {
    var log: [String]
    var error: String?
    var answer: Int32?
  }

  private func withReport(_ proxy: MulticastProxy, _ log: Log, _ value: Int32) throws -> [Outcome] {
    try (["score:", "tell:"] as [Selector]).map { name in
      log.clear()
      let isScore = name == "score:"
      let call =
        isScore
        ? try Message<Int32, Int32>(name).invocation(value)
        : try Message<NoResult, Int32>(name).invocation(value)
      let report = try proxy.deliver(call)
      let error = report.errors.first.map { "\($0)" }
      let answer = isScore && report.answered > 0 ? try call.result(as: Int32.self) : 0
      return Outcome(log: log.all, error: error, answer: error == nil ? answer : nil)
    }
  }

  private func without(_ proxy: MulticastProxy, _ log: Log, _ value: Int32) throws -> [Outcome] {
    let score = try Message<Int32, Int32>("score:")
    let tell = try Message<NoResult, Int32>("tell:")
    return [
      { try score(value, on: proxy) },
      {
        try tell(value, on: proxy); return 0
      },
    ].map {
      (send: () throws -> Int32) in
      log.clear()
      do {
        let answer = try send()
        return Outcome(log: log.all, error: nil, answer: answer)
      } catch {
        return Outcome(log: log.all, error: "\(error)", answer: nil)
      }
    }
  }

  @Test("both call the same targets in the same order, with the same answer and first error")
  func agree() throws {
    var random = SeededGenerator(seed: 4)
    var failures = 0
    for round in 0..<600 {
      let log = Log()
      var kept: [AnyObject] = []
      let proxy = try proxy(log, &random, &kept)
      // Either of them may be the first to meet the dead targets, and to publish the list.
      let isReportFirst = Bool.random(using: &random)
      var outcomes = [try isReportFirst ? withReport(proxy, log, 5) : without(proxy, log, 5)]
      outcomes.append(try isReportFirst ? without(proxy, log, 5) : withReport(proxy, log, 5))
      #expect(outcomes[0] == outcomes[1], "round \(round)")
      failures += outcomes[0].count { $0.error != nil }
      withExtendedLifetime(kept) {}
    }
    // Some deliveries failed and some did not, so that both comparisons mean something.
    #expect(failures > 100)
    #expect(failures < 1100)
  }

  @Test("after a delivery an invocation has its previous target")
  func receiver() throws {
    let log = Log()
    let proxy = MulticastProxy()
    for number in 0..<3 { proxy.add(Native(number, log), strongly: true) }
    for name in ["score:", "tell:"] as [Selector] {
      let call = try Invocation(MethodSignature(name == "tell:" ? "v@:i" : "i@:i"), selector: name)
      try call.setArgument(Int32(5), at: 2)
      try call.invoke(on: proxy)
      #expect(call.target === proxy)
    }
    #expect(log.count == 6)
  }

  @Test("a method that is replaced during a delivery is not called for later targets")
  func replacing() throws {
    final class Late: Part, @unchecked Sendable {}
    let table = MethodTable.of(Late.self)
    try table.register(
      "score:", encoding: "i@:i", unsafeFunction: unsafeBitCast(score, to: UnsafeRawPointer.self))
    try table.register(
      "tell:", encoding: "v@:i", unsafeFunction: unsafeBitCast(tell, to: UnsafeRawPointer.self))
    try table.register("note:") { (part: Late, value: Int32) in _ = part.note(value) }
    for name in ["score:", "tell:", "note:"] as [Selector] {
      let encoding = name == "score:" ? "i@:i" : "v@:i"
      let log = Log()
      let proxy = MulticastProxy()
      let targets = (0..<4).map { Late($0, log) }
      for target in targets { proxy.add(target, strongly: true) }
      let call = try Invocation(MethodSignature(parsing: encoding), selector: name)
      try call.setArgument(Int32(5), at: 2)
      // The first send makes the method known, so that all targets are called in a row.
      try call.invoke(on: proxy)
      #expect(log.count == 4)
      targets[1].action = {
        log.add("replaced")
        let method = try Implementation(MethodSignature(parsing: encoding)) { _ in log.add("new") }
        table.replace(name, method)
      }
      log.clear()
      try call.invoke(on: proxy)
      #expect(log.all == ["0 got 5", "1 got 5", "replaced", "new", "new"])
    }
  }

  @Test("a method registered before its first send has the plan of its senders")
  func samePlan() throws {
    let method = try #require(MethodTable.of(Native.self).method(for: "score:"))
    #expect(try Message<Int32, Int32>("score:").plan === method.plan)
    final class Late: CallObject {}
    try MethodTable.of(Late.self).register(
      "late:", encoding: "v24@0:8{unsent=iidi}16",
      unsafeFunction: unsafeBitCast(tell, to: UnsafeRawPointer.self))
    let late = try #require(MethodTable.of(Late.self).method(for: "late:"))
    #expect(try Invocation(parsing: "v@:{unsent=iidi}").plan === late.plan)
  }

  @Test("a call that is no message has no selector, and every proxy refuses it")
  func noMessage() throws {
    for encoding in ["v", "i", "vi"] {
      let call = try Invocation(MethodSignature(parsing: encoding))
      #expect(throws: InvocationError.selectorNotSet) { try MulticastProxy().forward(call) }
      #expect(throws: InvocationError.selectorNotSet) {
        try MulticastProxy(asksOne: true).forward(call)
      }
    }
  }
}
