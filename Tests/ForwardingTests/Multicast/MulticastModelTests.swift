// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Testing

/// Takes the steps with a real proxy, and targets that are released and replaced.
final class RealWorld: World, @unchecked Sendable {
  // Used on one thread at a time.
  var transcript: [String] = []
  private let proxy = MulticastProxy()
  private let queue = DispatchQueue(label: "model")
  private var targets: [ModelTarget?] = []
  private var tokens: [ForwardingToken] = []
  private var scopes: [ScopedToken?] = []
  private var inner: [[Step]] = []

  static func isWeak(_ slot: Int) -> Bool { slot != 0 }
  static func answersNotes(_ slot: Int) -> Bool { slot != 3 }

  init() {
    // The registrations of dead targets are compared, so their diagnostics are turned off.
    proxy.onDiagnostic = { _ in }
    targets = (0..<Step.slots).map { make($0) }
  }

  private func make(_ slot: Int) -> ModelTarget {
    switch slot {
    case 3: HalfTarget(slot, self)
    case 4, 5: HoldingTarget(slot, self)
    default: WholeTarget(slot, self)
    }
  }

  /// Called by a target when it receives a message.
  func called(_ slot: Int) throws {
    transcript.append("called \(slot)")
    guard !inner[inner.count - 1].isEmpty else { return }
    let step = inner[inner.count - 1].removeFirst()
    let came = take(step)
    transcript.append(came)
    if case .fail = step { throw Failure(name: "\(slot)") }
  }

  func take(_ step: Step) -> String {
    switch step {
    case .add(let slot, let isBlocking, let priority, let group, let once):
      guard let target = targets[slot] else { return "nobody" }
      return add {
        proxy.add(
          target, strongly: !Self.isWeak(slot), on: isBlocking ? .blocking(queue) : .caller,
          priority: priority, group: group.map { "\($0)" }, once: once)
      }
    case .scope(let slot):
      guard let target = targets[slot] else { return "nobody" }
      return add {
        let scope = proxy.add(target, strongly: !Self.isWeak(slot)).scoped()
        scopes.append(scope)
        return scope.token
      }
    case .endScope(let index):
      guard index < scopes.count, scopes[index] != nil else { return "none" }
      scopes[index] = nil
      return "ended"
    case .remove(let index):
      return index < tokens.count ? "\(proxy.remove(tokens[index]))" : "none"
    case .removeTarget(let slot):
      guard let target = targets[slot] else { return "nobody" }
      return "\(proxy.remove(target))"
    case .removeGroup(let group): return "\(proxy.remove(group: "\(group)"))"
    case .removeAll: return "\(proxy.removeAll())"
    case .block(let index): return "\(index < tokens.count && proxy.suspend(tokens[index]))"
    case .unblock(let index): return "\(index < tokens.count && proxy.resume(tokens[index]))"
    case .kill(let slot):
      if Self.isWeak(slot) { targets[slot] = nil }
      return ""
    case .revive(let slot):
      if targets[slot] == nil { targets[slot] = make(slot) }
      return ""
    case .firstAnswer(let isFirst):
      proxy.resultRule = isFirst ? .first : .last
      return ""
    case .zero(let isZero):
      proxy.whenNobodyAnswers = isZero ? .zero : .throwForResults
      return ""
    case .duplicates(let rule):
      proxy.duplicateRule = [.ignore, .allow][rule]
      return ""
    case .send(let hasResult, let steps): return send(hasResult, steps)
    case .report(let hasResult, let steps): return report(hasResult, steps)
    case .fail: return ""
    case .count: return "\(proxy.registrationCount) \(proxy.count)"
    }
  }

  private func add(_ body: () -> ForwardingToken) -> String {
    let token = body()
    tokens.append(token)
    return "#\(tokens.firstIndex(of: token) ?? -1)"
  }

  private func send(_ hasResult: Bool, _ steps: [Step]) -> String {
    inner.append(steps)
    defer { inner.removeLast() }
    do {
      if hasResult { return "\(try ModelTarget.step(1, on: proxy))" }
      try ModelTarget.note(1, on: proxy)
      return "sent"
    } catch let failure as Failure {
      return "threw \(failure.name)"
    } catch ForwardingError.nobodyAnswered {
      return "nobodyAnswered"
    } catch {
      return "\(error)"
    }
  }

  private func report(_ hasResult: Bool, _ steps: [Step]) -> String {
    inner.append(steps)
    defer { inner.removeLast() }
    do {
      let call = hasResult ? try ModelTarget.step.invocation(1) : try ModelTarget.note.invocation(1)
      let outcomes = try proxy.deliver(call).entries.map { entry in
        String("\(entry.outcome)".prefix { $0 != "(" })
      }
      guard hasResult else { return "\(outcomes) " }
      let answer = try? call.result(as: Int32.self)
      return "\(outcomes) \(answer.map { "\($0)" } ?? "none")"
    } catch {
      return "\(error)"
    }
  }
}

class ModelTarget {
  static let step = try! Message<Int32, Int32>("step:")
  static let note = try! Message<NoResult, Int32>("note:")

  let slot: Int
  private unowned let world: RealWorld

  init(_ slot: Int, _ world: RealWorld) {
    self.slot = slot
    self.world = world
  }

  func called() throws -> Int32 {
    try world.called(slot)
    return Int32(slot)
  }
}

final class WholeTarget: ModelTarget, MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("step:") { (self: WholeTarget, _: Int32) throws in try self.called() }
    methods.register("note:") { (self: WholeTarget, _: Int32) throws -> Void in
      _ = try self.called()
    }
  }
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

/// Random histories, taken by a proxy and by a model. `FORWARDING_HISTORIES` is their number (300;
/// `make check-machines` takes 3,000), and `FORWARDING_SEED` the first seed.
@Suite("Multicast: random histories")
struct MulticastModelTests {
  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  @Test("a proxy behaves as its model")
  func histories() {
    let first = Self.number("FORWARDING_SEED") ?? 1
    let count = Self.number("FORWARDING_HISTORIES") ?? 300
    var failures = 0
    for seed in first..<(first + count) where failures < 3 {
      var generator = SeededGenerator(seed: UInt64(seed))
      let steps = (0..<40).map { _ in Step.random(&generator) }
      let expected = ModelWorld().take(all: steps)
      let given = RealWorld().take(all: steps)
      guard given != expected else { continue }
      failures += 1
      let index = zip(given, expected).firstIndex { $0 != $1 } ?? min(given.count, expected.count)
      let context = given[max(0, index - 3)..<min(given.count, index + 1)]
      Issue.record(
        """
        seed \(seed), line \(index) of the transcript: expected \
        \(index < expected.count ? expected[index] : "its end"), given …\(Array(context))
        \(steps.map { "  \($0)" }.joined(separator: "\n"))
        """)
    }
  }
}

extension Zip2Sequence {
  fileprivate func firstIndex(where matches: (Element) -> Bool) -> Int? {
    for (index, pair) in enumerated() where matches(pair) { return index }
    return nil
  }
}
