// SPDX-License-Identifier: Apache-2.0
/// A plain model of `MulticastProxy` and `Multicast`: arrays, without threads, locks and caches.
final class ModelWorld: World {
  private final class Registration {
    let number: Int
    let isBlocking: Bool
    var priority = 0
    var group: Int?
    /// The latest value, which also applies to deliveries that began before.
    var isOnce: Bool
    var suspensions = 0
    var isRemoved = false
    /// Whether it is once-only, and ends when its target has answered: a sender that awaits a lane
    /// may stop waiting before the call.
    var endsWithAnswer = false
    /// Whether such a one is being called.
    var isClaimed = false
    init(_ number: Int, _ isBlocking: Bool, once: Bool) {
      (self.number, self.isBlocking, isOnce) = (number, isBlocking, once)
    }
  }

  private let setting: Setting
  var transcript: [String] = []
  var inner: [[Step]] = []
  private var list: [Registration] = []
  private var tokens: [Registration] = []
  private var scopes: [Registration?] = []
  /// The number of the object in each slot.
  private var held: [Int?]
  private var last: Int
  /// How often the objects are being called.
  private var turns: [Int: Int] = [:]
  private var isFirst = false
  private var isZero = false
  private var allowsDuplicates = false

  init(_ setting: Setting) {
    self.setting = setting
    held = Array(0..<setting.slots)
    last = setting.slots
  }

  private func isObject(_ number: Int) -> Bool { setting.isObject(setting.slot(of: number)) }

  private func isAlive(_ one: Registration) -> Bool {
    !isObject(one.number) || held[setting.slot(of: one.number)] == one.number
      || turns[one.number, default: 0] > 0
  }

  /// A registration that a step names, if it still counts.
  private func token(_ index: Int) -> Registration? {
    index < tokens.count && !tokens[index].isRemoved ? tokens[index] : nil
  }

  func take(_ step: Step) -> String {
    switch step {
    case .add(let slot, let isBlocking, let priority, let group, let once):
      guard let number = held[slot] else { return "nobody" }
      return add(number, isBlocking, priority, group, once)
    case .scope(let slot):
      guard let number = held[slot] else { return "nobody" }
      defer { scopes.append(tokens.last) }
      return add(number, false, nil, nil, false)
    case .endScope(let index):
      guard index < scopes.count, let one = scopes[index] else { return "none" }
      scopes[index] = nil
      remove { $0 === one }
      return "ended"
    case .remove(let index):
      guard index < tokens.count else { return "none" }
      return "\(remove { $0 === tokens[index] } > 0)"
    case .removeTarget(let slot):
      guard setting.isObject(slot), let number = held[slot] else { return "nobody" }
      let isThere = list.contains { $0.number == number }
      return "\(isThere) \(remove { $0.number == number })"
    case .removeGroup(let group): return "\(remove { $0.group == group })"
    case .removeAll: return "\(remove { _ in true })"
    case .suspend(let index):
      guard let one = token(index) else { return "false" }
      one.suspensions += 1
      return "true"
    case .resume(let index):
      guard let one = token(index), one.suspensions > 0 else { return "false" }
      one.suspensions -= 1
      return "true"
    case .kill(let slot):
      if setting.isWeak(slot) { held[slot] = nil }
    case .revive(let slot):
      guard held[slot] == nil else { return "" }
      last += setting.slots
      held[slot] = last + slot
    case .firstAnswer(let value): isFirst = value
    case .zero(let value): isZero = value
    case .allowDuplicates(let value): allowsDuplicates = value
    case .send(let hasResult, let steps): return send(hasResult, steps)
    case .report(let hasResult, let steps):
      let list = list
      let (outcomes, answers, errors) = deliver(hasResult, steps)
      return "\(outcomes) \(hasResult ? answers.last.map { "\($0)" } ?? "none" : "") "
        + "\(errors) \(list.map { one in tokens.firstIndex { $0 === one } ?? -1 })"
    case .collect(let isFirst, let steps):
      let (_, answers, errors) = deliver(true, steps, stopsAtFirst: isFirst)
      return errors.first.map { "threw \($0)" } ?? "\(answers)"
    case .visit(let kind, let steps): return visit(kind, steps)
    case .fail: break
    case .count:
      let alive = list.filter(isAlive).map(\.number)
      return "\(setting.way == .visit ? alive.count : list.count) \(alive.count) \(alive) "
        + "\(tokens.map { !$0.isRemoved })"
    }
    return ""
  }

  private func add(
    _ number: Int, _ isBlocking: Bool, _ priority: Int?, _ group: Int?, _ once: Bool
  ) -> String {
    // The oldest registration counts, wherever its priority has put it.
    let known = tokens.first {
      !$0.isRemoved && $0.number == number && $0.isBlocking == isBlocking
    }
    let one: Registration
    // The new wish would end with the call of a claimed one, which is replaced.
    if !allowsDuplicates, let known, known.isClaimed { remove { $0 === known } }
    if !allowsDuplicates, isObject(number), let known, !known.isRemoved {
      one = known
      one.isOnce = one.isOnce && once
      if let priority, priority != one.priority { list.removeAll { $0 === one } }
    } else {
      one = Registration(number, isBlocking, once: once)
    }
    one.group = group ?? one.group
    one.priority = priority ?? one.priority
    if !list.contains(where: { $0 === one }) {
      list.insert(one, at: list.firstIndex { $0.priority < one.priority } ?? list.endIndex)
    }
    tokens.append(one)
    return "#\(tokens.firstIndex { $0 === one } ?? -1)"
  }

  @discardableResult
  private func remove(where matches: (Registration) -> Bool) -> Int {
    let gone = list.filter(matches)
    list.removeAll(where: matches)
    for one in gone { one.isRemoved = true }
    return gone.count
  }

  private func send(_ hasResult: Bool, _ steps: [Step]) -> String {
    let (_, answers, errors) = deliver(hasResult, steps)
    if let error = errors.first { return "threw \(error)" }
    if !hasResult { return "sent" }
    return answers.last.map { "\($0)" } ?? (isZero ? "0" : "nobodyAnswered")
  }

  private func deliver(
    _ hasResult: Bool, _ steps: [Step], stopsAtFirst: Bool? = nil
  ) -> (outcomes: [String], answers: [Int], errors: [String]) {
    let isAwaited = setting.way == .awaited && inner.isEmpty
    inner.append(steps)
    var outcomes: [String] = []
    var answers: [Int] = []
    var errors: [String] = []
    let stopsAtFirst = stopsAtFirst ?? (isFirst && hasResult)
    for one in list {
      let slot = setting.slot(of: one.number)
      if stopsAtFirst, !answers.isEmpty {
        outcomes.append("notCalled")
      } else if one.isRemoved {
        outcomes.append("removed")
      } else if one.suspensions > 0 {
        outcomes.append("blocked")
      } else if !isAlive(one) {
        outcomes.append("dead")
      } else if !hasResult, !setting.answersNotes(slot) {
        outcomes.append("noMethod")
      } else if one.isClaimed {
        outcomes.append("removed")
      } else {
        if isAwaited, one.isOnce, one.isBlocking { one.endsWithAnswer = true }
        let isClaim = one.isOnce && one.endsWithAnswer
        one.isClaimed = isClaim
        if one.isOnce, !isClaim { remove { $0 === one } }
        turns[one.number, default: 0] += 1
        if called(slot), setting.throwsErrors(slot) {
          outcomes.append("failed")
          errors.append("\(slot)")
        } else {
          outcomes.append(setting.isQueued ? "queued" : "answered")
          answers.append(slot)
        }
        if isClaim { remove { $0 === one } }
        turns[one.number, default: 0] -= 1
      }
    }
    inner.removeLast()
    if outcomes.contains("dead") { remove { !isAlive($0) } }
    return (outcomes, answers, errors)
  }

  private func visit(_ kind: Step.Visit, _ steps: [Step]) -> String {
    inner.append(steps)
    var numbers: [Int] = []
    var end: Int?
    var metDead = false
    for one in list where end == nil && !one.isRemoved && one.suspensions == 0 {
      guard isAlive(one) else {
        metDead = true
        continue
      }
      if one.isOnce { remove { $0 === one } }
      turns[one.number, default: 0] += 1
      _ = called(one.number)
      numbers.append(one.number)
      let isEnd = setting.slot(of: one.number) == 2 && [.first, .allSatisfy, .fail].contains(kind)
      if isEnd { end = one.number }
      // The target that `first` finds lives until it is returned, after the dead ones were removed.
      if !isEnd || kind == .fail { turns[one.number, default: 0] -= 1 }
    }
    inner.removeLast()
    if metDead { remove { !isAlive($0) } }
    if let end, kind != .fail { turns[end, default: 0] -= 1 }
    return switch kind {
    case .forEach: ""
    case .map: "\(numbers)"
    case .first: "\(end ?? -1)"
    case .allSatisfy: "\(end == nil)"
    case .fail: end.map { "\($0)" } ?? "all"
    }
  }
}
