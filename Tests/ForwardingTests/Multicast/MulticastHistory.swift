// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport

/// What a history is about, for the model and for what it is compared with.
struct Setting: Sendable {
  /// How the messages of a history get to the targets.
  enum Way: CaseIterable { case message, report, awaited, queue, actor, visit }

  var way = Way.message
  var slots = 8
  /// Whether the target in a slot is an object, which may die.
  var isObject: @Sendable (Int) -> Bool = { _ in true }

  /// Whether targets run when their sender has gone on.
  var isQueued: Bool { way == .queue || way == .actor }
  /// Slot 0 is added strongly, and never dies.
  func isWeak(_ slot: Int) -> Bool { slot != 0 }
  /// The target of slot 3 has no method for messages without a result.
  func answersNotes(_ slot: Int) -> Bool { slot != 3 }
  /// The methods of slot 1 are C functions.
  func throwsErrors(_ slot: Int) -> Bool { slot != 1 }
  func slot(of number: Int) -> Int { number % slots }
}

/// One step of a history: an operation on a multicast, or the actions of its targets while they are
/// called.
indirect enum Step: Sendable {
  case add(
    Int, isBlocking: Bool = false, priority: Int? = nil, group: Int? = nil, once: Bool = false)
  case scope(Int)
  case endScope(Int)
  case remove(Int)
  case removeTarget(Int)
  case removeGroup(Int)
  case removeAll
  case suspend(Int)
  case resume(Int)
  /// Releases the last reference to a target.
  case kill(Int)
  /// Puts another object into the slot of a target.
  case revive(Int)
  case firstAnswer(Bool)
  case zero(Bool)
  case allowDuplicates(Bool)
  /// The called targets take the inner steps, one each.
  case send(hasResult: Bool, [Step])
  case report(hasResult: Bool, [Step])
  /// Asks for all answers, or for the first.
  case collect(isFirst: Bool, [Step])
  case visit(Visit, [Step])
  /// The target throws.
  case fail
  case count

  enum Visit: CaseIterable {
    /// The visits that see all targets.
    case forEach, map
    /// Those that end at a target: that of slot 2.
    case first, allSatisfy, fail
  }

  static func tell(_ inner: Step...) -> Step { .send(hasResult: false, inner) }
  static func ask(_ inner: Step...) -> Step { .send(hasResult: true, inner) }

  static func random(
    _ setting: Setting, _ generator: inout SeededGenerator, depth: Int = 0
  ) -> Step {
    let (slots, isVisit) = (setting.slots, setting.way == .visit)
    func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
    func inner() -> [Step] {
      guard depth < 3, !setting.isQueued else { return [] }
      return (0..<number(4)).map { _ in random(setting, &generator, depth: depth + 1) }
    }
    func hasResult() -> Bool { !setting.isQueued && number(2) == 0 }
    switch number(36) {
    case 0...8:
      return .add(
        number(slots), isBlocking: !isVisit && !setting.isQueued && number(5) == 0,
        priority: number(3) == 0 ? number(3) : nil, group: number(4) == 0 ? number(2) : nil,
        once: number(5) == 0)
    case 9: return .scope(number(slots))
    case 10: return .endScope(number(4))
    case 11, 12: return .remove(number(2 * slots))
    case 13: return .removeTarget(number(slots))
    case 14: return slots > 8 ? .count : .removeGroup(number(2))
    case 15: return slots > 8 || number(3) > 0 ? .count : .removeAll
    case 16, 17: return .suspend(number(2 * slots))
    case 18, 19: return .resume(number(2 * slots))
    case 20, 21: return .kill(number(slots))
    case 22, 23: return .revive(number(slots))
    case 28... where isVisit:
      return .visit(Visit.allCases[number(Visit.allCases.count)], inner())
    case 24... where isVisit: return .count
    case 24: return .firstAnswer(number(3) == 0)
    case 25: return .zero(number(2) == 0)
    case 26: return .allowDuplicates(number(2) == 0)
    case 27: return depth > 0 ? .fail : .count
    case 28...31: return .send(hasResult: hasResult(), inner())
    case 32...33 where !setting.isQueued: return .collect(isFirst: number(2) == 0, inner())
    default: return .report(hasResult: hasResult(), inner())
    }
  }
}

/// Takes the steps of a history and records the outcome of each.
protocol World: AnyObject {
  var transcript: [String] { get set }
  /// The steps that the targets of the open deliveries have not taken yet.
  var inner: [[Step]] { get set }
  func take(_ step: Step) -> String
  /// Takes a step of the history itself, and awaits what it sends.
  func takeAwaiting(_ step: Step) async -> String
}

extension World {
  func take(all steps: [Step]) async -> [String] {
    for step in steps {
      let came = await takeAwaiting(step)
      transcript.append(came)
    }
    return transcript
  }

  func takeAwaiting(_ step: Step) async -> String { take(step) }

  /// Notes that a target is called, and takes its step. Returns whether it fails.
  func called(_ name: Int) -> Bool {
    transcript.append("called \(name)")
    guard !inner[inner.count - 1].isEmpty else { return false }
    let step = inner[inner.count - 1].removeFirst()
    let came = take(step)
    transcript.append(came)
    if case .fail = step { return true }
    return false
  }
}

/// Takes the steps that are about registrations with a real multicast.
class RegistryWorld<Target>: World {
  // Used on one thread at a time.
  var transcript: [String] = []
  var inner: [[Step]] = []
  let setting: Setting
  private let registry: any TargetRegistry
  private var targets: [Target?] = []
  private var last: Int
  private(set) var tokens: [ForwardingToken] = []
  private var scopes: [ScopedToken?] = []

  init(_ setting: Setting, _ registry: any TargetRegistry) {
    (self.setting, self.registry, last) = (setting, registry, setting.slots)
    // The registrations of dead targets are compared, so their diagnostics are turned off.
    registry.onDiagnostic = { _ in }
    targets = (0..<setting.slots).map { make($0) }
  }

  // What the multicast of a subclass does.
  func make(_ number: Int) -> Target { fatalError("abstract") }
  func add(
    _ target: Target, strongly: Bool, isBlocking: Bool, _ priority: Int?, _ group: String?,
    once: Bool
  ) -> ForwardingToken { fatalError("abstract") }
  func deliver(_ step: Step) -> String { fatalError("abstract") }
  /// The numbers of registrations, and those of the live targets.
  var numbers: (count: Int, alive: [Int]) { fatalError("abstract") }

  func take(_ step: Step) -> String {
    switch step {
    case .add(let slot, let isBlocking, let priority, let group, let once):
      guard let target = targets[slot] else { return "nobody" }
      return added(
        add(
          target, strongly: !setting.isWeak(slot), isBlocking: isBlocking, priority,
          group.map { "\($0)" }, once: once))
    case .scope(let slot):
      guard let target = targets[slot] else { return "nobody" }
      let token = add(
        target, strongly: !setting.isWeak(slot), isBlocking: false, nil, nil, once: false)
      scopes.append(token.scoped())
      return added(token)
    case .endScope(let index):
      guard index < scopes.count, scopes[index] != nil else { return "none" }
      scopes[index] = nil
      return "ended"
    case .remove(let index):
      return index < tokens.count ? "\(registry.remove(tokens[index]))" : "none"
    case .removeTarget(let slot):
      guard setting.isObject(slot), let target = targets[slot] else { return "nobody" }
      let object = target as AnyObject
      return "\(registry.contains(object)) \(registry.remove(object))"
    case .removeGroup(let group): return "\(registry.remove(group: "\(group)"))"
    case .removeAll: return "\(registry.removeAll())"
    case .suspend(let index): return "\(index < tokens.count && registry.suspend(tokens[index]))"
    case .resume(let index): return "\(index < tokens.count && registry.resume(tokens[index]))"
    case .kill(let slot):
      if setting.isWeak(slot) { targets[slot] = nil }
    case .revive(let slot):
      guard targets[slot] == nil else { return "" }
      last += setting.slots
      targets[slot] = make(last + slot)
    case .firstAnswer(let isFirst): registry.resultRule = isFirst ? .first : .last
    case .zero(let isZero): registry.whenNobodyAnswers = isZero ? .zero : .throwForResults
    case .allowDuplicates(let isAllowed): registry.duplicateRule = isAllowed ? .allow : .ignore
    case .send(_, let steps), .report(_, let steps), .collect(_, let steps), .visit(_, let steps):
      inner.append(steps)
      defer { inner.removeLast() }
      return deliver(step)
    case .fail: break
    case .count:
      let (count, alive) = numbers
      return "\(count) \(registry.count) \(alive) \(tokens.map { registry.contains($0) })"
    }
    return ""
  }

  func takeAwaiting(_ step: Step) async -> String { take(step) }

  private func added(_ token: ForwardingToken) -> String {
    tokens.append(token)
    return "#\(tokens.firstIndex(of: token) ?? -1)"
  }
}
