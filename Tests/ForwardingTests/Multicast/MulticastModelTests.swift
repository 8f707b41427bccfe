// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Testing

/// Takes the steps with a real proxy, and targets that are released and replaced.
final class RealWorld: RegistryWorld<AnyObject>, @unchecked Sendable {
  private actor Place {}

  private let proxy: MulticastProxy
  private let blocking = DispatchQueue(label: "model")
  private let lane: DeliveryLane

  init(_ setting: Setting) {
    proxy = MulticastProxy()
    lane =
      switch setting.way {
      case .queue: .queue(DispatchQueue(label: "lane of the model"))
      case .actor: .actor(Place())
      default: .caller
      }
    super.init(setting, proxy)
  }

  override func make(_ number: Int) -> AnyObject {
    switch setting.slot(of: number) {
    case 1: NativeTarget(number, self)
    case 3: HalfTarget(number, self)
    case 4, 5: HoldingTarget(number, self)
    case 6: Relay(WholeTarget(number, self))
    case 7: MulticastProxy(one: WholeTarget(number, self), strongly: true)
    default: number % 3 == 0 ? OtherTarget(number, self) : WholeTarget(number, self)
    }
  }

  private func number(of target: AnyObject) -> Int {
    switch target {
    case let relay as Relay: relay.target.number
    case let proxy as MulticastProxy: proxy.targets.first.map(number) ?? -1
    default: (target as? ModelTarget)?.number ?? -1
    }
  }

  override func add(
    _ target: AnyObject, strongly: Bool, isBlocking: Bool, _ priority: Int?, _ group: String?,
    once: Bool
  ) -> ForwardingToken {
    proxy.add(
      target, strongly: strongly, on: isBlocking ? .blocking(blocking) : lane, priority: priority,
      group: group, once: once)
  }

  override var numbers: (count: Int, alive: [Int]) {
    (proxy.registrationCount, proxy.targets.map(number))
  }

  /// Called by a target when it receives a message.
  func received(_ number: Int) throws -> Int32 {
    let slot = setting.slot(of: number)
    if called(slot), setting.throwsErrors(slot) { throw Failure(name: "\(slot)") }
    return Int32(slot)
  }

  override func deliver(_ step: Step) -> String {
    do {
      return switch step {
      case .send(hasResult: true, _) where setting.way == .report:
        try text(verdictOf: ModelTarget.step.report(1, on: proxy))
      case .send(hasResult: false, _) where setting.way == .report:
        try text(verdictOf: ModelTarget.note.report(1, on: proxy))
      case .send(hasResult: true, _): "\(try ModelTarget.step(1, on: proxy))"
      case .send: text(try ModelTarget.note(1, on: proxy))
      case .report(hasResult: true, _): text(of: try ModelTarget.step.report(1, on: proxy))
      case .collect(isFirst: true, _):
        "\(try ModelTarget.step.first(1, on: proxy).map { [$0] } ?? [])"
      case .collect where setting.way == .report:
        "\(try proxy.answers(to: ModelTarget.step.invocation(1), as: Int32.self))"
      case .collect: "\(try ModelTarget.step.all(1, on: proxy))"
      default: text(of: try ModelTarget.note.report(1, on: proxy))
      }
    } catch { return text(thrown: error) }
  }

  override func takeAwaiting(_ step: Step) async -> String {
    switch step {
    case .send(_, let steps), .report(_, let steps), .collect(_, let steps): inner.append(steps)
    default: return take(step)
    }
    defer { inner.removeLast() }
    do {
      return switch (setting.way, step) {
      case (.awaited, .send(hasResult: true, _)):
        "\(try await ModelTarget.step(1, on: proxy, concurrently: false))"
      case (.awaited, .send): text(try await ModelTarget.note(1, on: proxy, concurrently: false))
      case (.awaited, .report(hasResult: true, _)):
        text(of: try await ModelTarget.step.report(1, on: proxy, concurrently: false))
      case (.awaited, .report):
        text(of: try await ModelTarget.note.report(1, on: proxy, concurrently: false))
      case (.awaited, .collect(isFirst: true, _)):
        "\(try await ModelTarget.step.first(1, on: proxy, concurrently: false).map { [$0] } ?? [])"
      case (.awaited, .collect):
        "\(try await ModelTarget.step.all(1, on: proxy, concurrently: false))"
      case (.queue, .send), (.actor, .send): try await queued(isReported: false)
      case (.queue, .report), (.actor, .report): try await queued(isReported: true)
      default: deliver(step)
      }
    } catch { return text(thrown: error) }
  }
  /// Sends a message to the lane, and awaits that all targets have got it.
  private func queued(isReported: Bool) async throws -> String {
    let report = try ModelTarget.note.report(1, on: proxy)
    var errors: [any Error] = []
    for entry in report.entries {
      let outcome = await entry.ticket?.value() ?? entry.outcome
      if let error = outcome.error { errors.append(error) }
    }
    if isReported { return text(of: report) }
    if let error = errors.first { throw error }
    return "sent"
  }

  private func text(_ nothing: NoResult) -> String { "sent" }

  private func text(thrown error: any Error) -> String {
    switch error {
    case let failure as Failure: "threw \(failure.name)"
    case ForwardingError.nobodyAnswered: "nobodyAnswered"
    default: "\(error)"
    }
  }

  private func text<Answer>(of report: DeliveryReport<Answer>) -> String {
    let outcomes = report.entries.map { entry in String("\(entry.outcome)".prefix { $0 != "(" }) }
    let hasResult = Answer.self == Int32.self
    let errors = report.errors.map { ($0 as? Failure)?.name ?? "\($0)" }
    let numbers = Dictionary(zip(tokens, tokens.indices)) { first, _ in first }
    return "\(outcomes) \(hasResult ? report.answers.last.map { "\($0)" } ?? "none" : "") "
      + "\(errors) \(report.entries.map { numbers[$0.token] ?? -1 })"
  }

  /// What a sender without a report would get.
  private func text<Answer>(verdictOf report: DeliveryReport<Answer>) throws -> String {
    if let error = report.errors.first { throw error }
    if Answer.self != Int32.self { return "sent" }
    return report.answers.last.map { "\($0)" }
      ?? (proxy.whenNobodyAnswers == .zero ? "0" : "nobodyAnswered")
  }
}

class ModelTarget {
  static let step = try! Message<Int32, Int32>("step:")
  static let note = try! Message<NoResult, Int32>("note:")

  let number: Int
  private unowned let world: RealWorld

  init(_ number: Int, _ world: RealWorld) { (self.number, self.world) = (number, world) }

  func called() throws -> Int32 { try world.received(number) }
}

final class WholeTarget: ModelTarget, MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("step:") { (self: WholeTarget, _: Int32) throws in try self.called() }
    methods.register("note:") { (self: WholeTarget, _: Int32) throws -> Void in
      _ = try self.called()
    }
  }
}

/// The same methods, of another class.
final class OtherTarget: ModelTarget, MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("step:") { (self: OtherTarget, _: Int32) throws in try self.called() }
    methods.register("note:") { (self: OtherTarget, _: Int32) throws -> Void in
      _ = try self.called()
    }
  }
}

/// A target whose methods are C functions, which cannot throw.
final class NativeTarget: ModelTarget, MethodDeclaring {
  private typealias StepCode = @convention(c) (UnsafeRawPointer, UnsafeRawPointer, Int32) -> Int32
  private typealias NoteCode = @convention(c) (UnsafeRawPointer, UnsafeRawPointer, Int32) -> Void

  private static func answer(_ receiver: UnsafeRawPointer) -> Int32 {
    (try? Unmanaged<NativeTarget>.fromOpaque(receiver).takeUnretainedValue().called()) ?? -1
  }

  private static let stepCode: StepCode = { receiver, _, _ in answer(receiver) }
  private static let noteCode: NoteCode = { receiver, _, _ in _ = answer(receiver) }

  static func declareMethods(_ methods: MethodDeclarations) {
    func declare(_ selector: Selector, _ encoding: String, _ code: UnsafeRawPointer) {
      let method = try! unsafe Implementation(
        methodEncoding: encoding, unsafeFunction: code, receiver: NativeTarget.self)
      methods.register(selector, method)
    }
    declare("step:", "i@:i", unsafeBitCast(stepCode, to: UnsafeRawPointer.self))
    declare("note:", "v@:i", unsafeBitCast(noteCode, to: UnsafeRawPointer.self))
  }
}

/// A target that passes messages on.
final class Relay: MessageForwarding {
  let target: ModelTarget
  init(_ target: ModelTarget) { self.target = target }
  func responds(to selector: Selector) -> Bool { Introspection.responds(target, to: selector) }
  func forwardingTarget(for selector: Selector) -> AnyObject? { target }
}

/// A target without a method for notes.
final class HalfTarget: ModelTarget, MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("step:") { (self: HalfTarget, _: Int32) throws in try self.called() }
  }
}

/// A target that provides its own methods.
final class HoldingTarget: ModelTarget, MethodProviding {
  private static let methods = [
    try! Implementation { (self: HoldingTarget, _: Int32) throws in try self.called() },
    try! Implementation { (self: HoldingTarget, _: Int32) throws -> Void in _ = try self.called() },
  ]

  func ownMethod(for selector: Selector) -> Implementation? {
    switch selector {
    case ModelTarget.step.selector: Self.methods[0]
    case ModelTarget.note.selector: Self.methods[1]
    default: nil
    }
  }
}

/// Takes random histories with a world and with the model, and compares them.
func compare(
  _ setting: Setting, of kind: String = "proxy", seeds: ClosedRange<Int> = 1...300,
  steps count: Int = 40, after start: [Step] = [], with make: () -> any World
) async {
  var failures = 0
  for seed in seeds where failures < 3 {
    var generator = SeededGenerator(seed: UInt64(seed))
    let steps = start + (0..<count).map { _ in Step.random(setting, &generator) }
    let expected = await ModelWorld(setting).take(all: steps)
    let given = await make().take(all: steps)
    guard given != expected else { continue }
    failures += 1
    let index =
      zip(given, expected).enumerated().first { $1.0 != $1.1 }?.offset
      ?? min(given.count, expected.count)
    Issue.record(
      """
      \(kind), \(setting.way), seed \(seed), line \(index) of the transcript: expected \
      \(index < expected.count ? expected[index] : "its end"), given \
      …\(given[max(0, index - 3)..<min(given.count, index + 1)])
      \(steps.map { "  \($0)" }.joined(separator: "\n"))
      """)
  }
}

/// Random histories, taken by a proxy and by a model. `FORWARDING_HISTORIES` is their number (100;
/// `make check` takes 300, and `make check-machines` 3,000), and `FORWARDING_SEED` the first seed.
@Suite("Multicast: random histories")
struct MulticastModelTests {
  @Test("a proxy behaves as its model", arguments: Setting.Way.allCases.filter { $0 != .visit })
  func histories(_ way: Setting.Way) async {
    let first = ForwardingTestSupport.setting("FORWARDING_SEED", 1)
    let all = ForwardingTestSupport.setting("FORWARDING_HISTORIES", 100)
    let count = max(1, way == .message ? all : all / 3)
    let setting = Setting(way: way)
    await compare(setting, seeds: first...(first + count - 1)) { RealWorld(setting) }
  }

  @Test("so does a proxy of many targets", arguments: [(100, 1000), (1000, 200)])
  func crowds(_ slots: Int, _ steps: Int) async {
    let setting = Setting(slots: slots)
    let all = (0..<slots).map { Step.add($0, priority: $0 % 7 == 0 ? 1 : 0) }
    await compare(setting, seeds: 1...3, steps: steps, after: all) { RealWorld(setting) }
  }
}
