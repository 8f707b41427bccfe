// SPDX-License-Identifier: Apache-2.0
/// A plain model of `MulticastProxy`: arrays, without threads, locks and caches.
final class ModelWorld: World {
  final class Registration {
    let instance: Int
    let slot: Int
    var isRemoved = false
    var blocks = 0
    /// The latest value, which also applies to deliveries that began before.
    var isOnce: Bool
    init(_ instance: Int, _ slot: Int, once: Bool) {
      self.instance = instance
      self.slot = slot
      isOnce = once
    }
  }

  /// A registration at its place. A delivery uses the places at its beginning.
  struct Entry {
    let registration: Registration
    var isBlocking: Bool
    var priority: Int
    var group: Int?
  }

  var transcript: [String] = []
  private var list: [Entry] = []
  private var tokens: [Registration] = []
  private var scopes: [Registration?] = []
  /// For each slot: the number of its object, and whether a strong reference exists.
  private var instances = Array(0..<Step.slots)
  private var held = Array(repeating: true, count: Step.slots)
  private var lastInstance = Step.slots
  /// The objects that are retained, and those that are being called.
  private var turns: [Int: Int] = [:]
  private var inner: [[Step]] = []
  private var isFirst = false
  private var isZero = false
  private var rule = 0

  private func isAlive(_ registration: Registration) -> Bool {
    instances[registration.slot] == registration.instance && held[registration.slot]
      || turns[registration.instance, default: 0] > 0
  }

  func take(_ step: Step) -> String {
    switch step {
    case .add(let slot, let isBlocking, let priority, let group, let once):
      guard held[slot] else { return "nobody" }
      return add(slot, isBlocking, priority, group, once)
    case .scope(let slot):
      guard held[slot] else { return "nobody" }
      defer { scopes.append(tokens.last) }
      return add(slot, false, nil, nil, false)
    case .endScope(let index):
      guard index < scopes.count, let registration = scopes[index] else { return "none" }
      scopes[index] = nil
      remove { $0 === registration }
      return "ended"
    case .remove(let index):
      guard index < tokens.count else { return "none" }
      return "\(remove { $0 === tokens[index] } > 0)"
    case .removeTarget(let slot):
      guard held[slot] else { return "nobody" }
      return "\(remove { $0.instance == instances[slot] })"
    case .removeGroup(let group):
      let gone = list.filter { $0.group == group }.map(\.registration)
      return "\(remove { one in gone.contains { $0 === one } })"
    case .removeAll: return "\(remove { _ in true })"
    case .block(let index):
      guard index < tokens.count, !tokens[index].isRemoved else { return "false" }
      tokens[index].blocks += 1
      return "true"
    case .unblock(let index):
      guard index < tokens.count, !tokens[index].isRemoved, tokens[index].blocks > 0 else {
        return "false"
      }
      tokens[index].blocks -= 1
      return "true"
    case .kill(let slot):
      if RealWorld.isWeak(slot) { held[slot] = false }
      return ""
    case .revive(let slot):
      guard !held[slot] else { return "" }
      held[slot] = true
      instances[slot] = lastInstance
      lastInstance += 1
      return ""
    case .firstAnswer(let value):
      isFirst = value
      return ""
    case .zero(let value):
      isZero = value
      return ""
    case .duplicates(let value):
      rule = value
      return ""
    case .send(let hasResult, let steps):
      let (_, answers, errors) = deliver(hasResult, steps)
      if let error = errors.first { return "threw \(error)" }
      if let answer = answers.last { return hasResult ? "\(answer)" : "sent" }
      if !hasResult { return "sent" }
      return isZero ? "0" : "nobodyAnswered"
    case .report(let hasResult, let steps):
      let (outcomes, answers, _) = deliver(hasResult, steps)
      return "\(outcomes) \(hasResult ? answers.last.map { "\($0)" } ?? "none" : "")"
    case .fail: return ""
    case .count: return "\(list.count) \(list.count { isAlive($0.registration) })"
    }
  }

  private func add(
    _ slot: Int, _ isBlocking: Bool, _ priority: Int?, _ group: Int?, _ once: Bool
  ) -> String {
    let same = list.firstIndex {
      $0.registration.instance == instances[slot] && $0.isBlocking == isBlocking
    }
    var registration: Registration
    // The oldest registration counts, wherever its priority has put it.
    let oldest = tokens.first { one in
      list.contains {
        $0.registration === one && one.instance == instances[slot] && $0.isBlocking == isBlocking
      }
    }
    if rule != 1, same != nil, let oldest,
      let index = list.firstIndex(where: { $0.registration === oldest })
    {
      if rule == 2 { return "duplicate" }
      registration = oldest
      var entry = list[index]
      entry.group = group ?? entry.group
      registration.isOnce = registration.isOnce && once
      if let priority, priority != entry.priority {
        list.remove(at: index)
        entry.priority = priority
        insert(entry)
      } else {
        list[index] = entry
      }
    } else {
      registration = Registration(instances[slot], slot, once: once)
      insert(
        Entry(
          registration: registration, isBlocking: isBlocking, priority: priority ?? 0,
          group: group))
    }
    tokens.append(registration)
    return "#\(tokens.firstIndex { $0 === registration } ?? -1)"
  }

  private func insert(_ entry: Entry) {
    let index = list.firstIndex { $0.priority < entry.priority } ?? list.endIndex
    list.insert(entry, at: index)
  }

  @discardableResult
  private func remove(where matches: (Registration) -> Bool) -> Int {
    let gone = list.filter { matches($0.registration) }
    list.removeAll { matches($0.registration) }
    for entry in gone { entry.registration.isRemoved = true }
    return gone.count
  }

  private func deliver(
    _ hasResult: Bool, _ steps: [Step]
  ) -> (outcomes: [String], answers: [Int], errors: [String]) {
    inner.append(steps)
    var outcomes: [String] = []
    var answers: [Int] = []
    var errors: [String] = []
    let stopsAtFirst = isFirst && hasResult
    for entry in list {
      let registration = entry.registration
      if stopsAtFirst, !answers.isEmpty {
        outcomes.append("notCalled")
      } else if registration.isRemoved {
        outcomes.append("removed")
      } else if registration.blocks > 0 {
        outcomes.append("blocked")
      } else if !isAlive(registration) {
        outcomes.append("dead")
      } else if !hasResult, !RealWorld.answersNotes(registration.slot) {
        outcomes.append("noMethod")
      } else {
        if registration.isOnce { remove { $0 === registration } }
        if call(registration) {
          outcomes.append("failed")
          errors.append("\(registration.slot)")
        } else {
          outcomes.append("answered")
          answers.append(registration.slot)
        }
      }
    }
    inner.removeLast()
    if outcomes.contains("dead") { remove { !isAlive($0) } }
    return (outcomes, answers, errors)
  }

  /// Returns true if the target throws.
  private func call(_ registration: Registration) -> Bool {
    turns[registration.instance, default: 0] += 1
    defer { turns[registration.instance, default: 0] -= 1 }
    transcript.append("called \(registration.slot)")
    guard !inner[inner.count - 1].isEmpty else { return false }
    let step = inner[inner.count - 1].removeFirst()
    let came = take(step)
    transcript.append(came)
    if case .fail = step { return true }
    return false
  }
}
