// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Testing

/// One step of a history of visits.
private indirect enum VisitStep: CustomStringConvertible {
  case add(Int, priority: Int?, group: Int?, once: Bool)
  case remove(Int)
  case removeTarget(Int)
  case removeGroup(Int)
  case removeAll
  case suspend(Int)
  case resume(Int)
  case kill(Int)
  case revive(Int)
  /// The visited targets take the inner steps, one each.
  case visit(Kind, [VisitStep])
  case ask

  enum Kind: CaseIterable {
    /// The visits that see all targets.
    case forEach, map
    /// Those that end at a target: that of slot 2.
    case first, allSatisfy, fail
  }

  static let slots = 6

  var description: String {
    switch self {
    case .add(let slot, let priority, let group, let once):
      "add(\(slot)\(priority.map { " priority \($0)" } ?? "")"
        + "\(group.map { " group \($0)" } ?? "")\(once ? " once" : ""))"
    case .remove(let index): "remove(#\(index))"
    case .removeTarget(let slot): "removeTarget(\(slot))"
    case .removeGroup(let group): "removeGroup(\(group))"
    case .removeAll: "removeAll"
    case .suspend(let index): "suspend(#\(index))"
    case .resume(let index): "resume(#\(index))"
    case .kill(let slot): "kill(\(slot))"
    case .revive(let slot): "revive(\(slot))"
    case .visit(let kind, let inner): "\(kind)(\(inner))"
    case .ask: "ask"
    }
  }

  static func random(_ generator: inout SeededGenerator, depth: Int = 0) -> VisitStep {
    func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
    switch number(24) {
    case 0...7:
      return .add(
        number(slots), priority: number(3) == 0 ? number(3) : nil,
        group: number(4) == 0 ? number(2) : nil, once: number(4) == 0)
    case 8, 9: return .remove(number(12))
    case 10: return .removeTarget(number(slots))
    case 11: return .removeGroup(number(2))
    case 12: return number(4) == 0 ? .removeAll : .ask
    case 13: return .suspend(number(12))
    case 14, 15: return .resume(number(12))
    case 16, 17: return .kill(number(slots))
    case 18: return .revive(number(slots))
    case 19: return .ask
    default:
      let inner = depth < 3 ? (0..<number(4)).map { _ in random(&generator, depth: depth + 1) } : []
      return .visit(Kind.allCases[number(Kind.allCases.count)], inner)
    }
  }
}

/// Takes the steps: a multicast, or its model.
private protocol VisitWorld: AnyObject {
  func take(_ step: VisitStep) -> String
  /// Visits the targets, and calls `each` with their numbers until it returns false.
  func visit(_ kind: VisitStep.Kind, _ each: (Int) -> Bool) -> String
}

extension VisitWorld {
  func take(all steps: [VisitStep]) -> [String] {
    var transcript: [String] = []
    func taken(_ step: VisitStep) {
      if case .visit(let kind, var inner) = step {
        let result = visit(kind) { number in
          transcript.append("visited \(number)")
          if !inner.isEmpty { taken(inner.removeFirst()) }
          return number % 10 == 2
        }
        transcript.append(result)
      } else {
        transcript.append(take(step))
      }
    }
    steps.forEach(taken)
    return transcript
  }
}

/// How the slots of a history become targets of a type. The number of a target is its slot, and ten
/// times the number of its object.
private struct VisitSubject<Subject> {
  let make: (Int) -> Subject
  let number: (Subject) -> Int
  var isObject: (Int) -> Bool = { _ in true }
}

/// Slot 0 is added strongly, and never dies.
private final class RealVisits<Subject>: VisitWorld {
  private let subject: VisitSubject<Subject>
  private let multicast = Multicast<Subject>()
  private var targets: [Subject?] = []
  private var last = VisitStep.slots
  private var tokens: [ForwardingToken] = []

  init(_ subject: VisitSubject<Subject>) {
    self.subject = subject
    multicast.onDiagnostic = { _ in }
    targets = (0..<VisitStep.slots).map { subject.make($0 * 10 + $0) }
  }

  func take(_ step: VisitStep) -> String {
    switch step {
    case .add(let slot, let priority, let group, let once):
      guard let target = targets[slot] else { return "nobody" }
      let token = multicast.add(
        target, strongly: slot == 0, priority: priority, group: group.map { "\($0)" }, once: once)
      tokens.append(token)
      return "#\(tokens.firstIndex(of: token) ?? -1)"
    case .remove(let index):
      return index < tokens.count ? "\(multicast.remove(tokens[index]))" : "none"
    case .removeTarget(let slot):
      guard subject.isObject(slot), let target = targets[slot] else { return "nobody" }
      let isThere = multicast.contains(target as AnyObject)
      return "\(isThere) \(multicast.remove(target as AnyObject))"
    case .removeGroup(let group): return "\(multicast.remove(group: "\(group)"))"
    case .removeAll: return "\(multicast.removeAll())"
    case .suspend(let index):
      return "\(index < tokens.count && multicast.suspend(tokens[index]))"
    case .resume(let index): return "\(index < tokens.count && multicast.resume(tokens[index]))"
    case .kill(let slot):
      if slot > 0 { targets[slot] = nil }
      return ""
    case .revive(let slot):
      if targets[slot] == nil {
        targets[slot] = subject.make(last * 10 + slot)
        last += 1
      }
      return ""
    case .visit: return ""
    case .ask:
      return "\(multicast.count) \(multicast.isEmpty) \(multicast.targets.map(subject.number))"
        + "\(tokens.map(multicast.contains))"
    }
  }

  func visit(_ kind: VisitStep.Kind, _ each: (Int) -> Bool) -> String {
    let number = subject.number
    switch kind {
    case .forEach:
      multicast.forEach { _ = each(number($0)) }
      return ""
    case .map:
      return "\(multicast.map { target in _ = each(number(target)); return number(target) })"
    case .first: return "\(multicast.first { each(number($0)) }.map(number) ?? -1)"
    case .allSatisfy: return "\(multicast.allSatisfy { !each(number($0)) })"
    case .fail:
      do {
        try multicast.forEach { target throws(Failure) in
          if each(number(target)) { throw Failure(name: "\(number(target))") }
        }
        return "all"
      } catch {
        return error.name
      }
    }
  }
}

/// A plain model: arrays, without locks.
private final class ModelVisits: VisitWorld {
  private final class Registration {
    let number: Int
    var priority = 0
    var group: Int?
    var isOnce: Bool
    var suspensions = 0
    var isRemoved = false
    init(_ number: Int, once: Bool) {
      self.number = number
      isOnce = once
    }
  }

  private let isObject: (Int) -> Bool
  private var list: [Registration] = []
  private var tokens: [Registration] = []
  /// The number of the object in each slot.
  private var held: [Int?] = (0..<VisitStep.slots).map { $0 * 10 + $0 }
  private var last = VisitStep.slots
  private var visited: [Int] = []

  init(_ isObject: @escaping (Int) -> Bool) { self.isObject = isObject }

  private func isAlive(_ one: Registration) -> Bool {
    !isObject(one.number % 10) || held.contains(one.number) || visited.contains(one.number)
  }

  private func remove(where matches: (Registration) -> Bool) -> Int {
    let gone = list.filter(matches)
    list.removeAll(where: matches)
    for one in gone { one.isRemoved = true }
    return gone.count
  }

  private func place(_ one: Registration) {
    list.insert(one, at: list.firstIndex { $0.priority < one.priority } ?? list.endIndex)
  }

  private func add(_ number: Int, _ priority: Int?, _ group: Int?, _ once: Bool) -> Registration {
    if isObject(number % 10), let known = list.first(where: { $0.number == number }) {
      known.group = group ?? known.group
      known.isOnce = known.isOnce && once
      if let priority, priority != known.priority {
        known.priority = priority
        list.removeAll { $0 === known }
        place(known)
      }
      return known
    }
    let made = Registration(number, once: once)
    made.priority = priority ?? 0
    made.group = group
    place(made)
    return made
  }

  func take(_ step: VisitStep) -> String {
    switch step {
    case .add(let slot, let priority, let group, let once):
      guard let number = held[slot] else { return "nobody" }
      let made = add(number, priority, group, once)
      tokens.append(made)
      return "#\(tokens.firstIndex { $0 === made } ?? -1)"
    case .remove(let index):
      guard index < tokens.count else { return "none" }
      return "\(remove { $0 === tokens[index] } > 0)"
    case .removeTarget(let slot):
      guard isObject(slot), let number = held[slot] else { return "nobody" }
      let isThere = list.contains { $0.number == number }
      return "\(isThere) \(remove { $0.number == number })"
    case .removeGroup(let group): return "\(remove { $0.group == group })"
    case .removeAll: return "\(remove { _ in true })"
    case .suspend(let index):
      guard index < tokens.count, !tokens[index].isRemoved else { return "false" }
      tokens[index].suspensions += 1
      return "true"
    case .resume(let index):
      guard index < tokens.count, !tokens[index].isRemoved, tokens[index].suspensions > 0 else {
        return "false"
      }
      tokens[index].suspensions -= 1
      return "true"
    case .kill(let slot):
      if slot > 0 { held[slot] = nil }
      return ""
    case .revive(let slot):
      if held[slot] == nil {
        held[slot] = last * 10 + slot
        last += 1
      }
      return ""
    case .visit: return ""
    case .ask:
      let alive = list.filter(isAlive)
      return "\(alive.count) \(alive.isEmpty) \(alive.map(\.number))\(tokens.map { !$0.isRemoved })"
    }
  }

  func visit(_ kind: VisitStep.Kind, _ each: (Int) -> Bool) -> String {
    var numbers: [Int] = []
    var end: Int?
    var metDead = false
    for one in list where end == nil && !one.isRemoved && one.suspensions == 0 {
      guard isAlive(one) else {
        metDead = true
        continue
      }
      if one.isOnce { _ = remove { $0 === one } }
      visited.append(one.number)
      let isTwo = each(one.number)
      numbers.append(one.number)
      if isTwo, [.first, .allSatisfy, .fail].contains(kind) { end = one.number }
      // The target that `first` finds lives until it is returned, after the dead ones were removed.
      if end == nil || kind == .fail { visited.removeLast() }
    }
    if metDead { _ = remove { !isAlive($0) } }
    if end != nil, kind != .fail { visited.removeLast() }
    return switch kind {
    case .forEach: ""
    case .map: "\(numbers)"
    case .first: "\(end ?? -1)"
    case .allSatisfy: "\(end == nil)"
    case .fail: end.map { "\($0)" } ?? "all"
    }
  }
}

private protocol Numbered: AnyObject { var number: Int { get } }
private protocol Named { var number: Int { get } }
private protocol Marked: AnyObject {}
private class Based { func counted() -> Int { 0 } }
private final class Whole: Based, Numbered, Named, Marked {
  let number: Int
  init(_ number: Int) { self.number = number }
  override func counted() -> Int { number }
}
private final class Other: Numbered, Named, Marked {
  let number: Int
  init(_ number: Int) { self.number = number }
}
private struct Plain: Named, Equatable { var number: Int }
private enum Single: Named {
  case number(Int)
  var number: Int { if case .number(let number) = self { number } else { 0 } }
}
private protocol Primary<Value>: AnyObject {
  associatedtype Value
  var value: Value { get }
}
extension Whole: Primary { var value: Int { number } }
extension Other: Primary { var value: Int { number } }

@Suite("Multicast of any type: random histories of visits")
struct VisitModelTests {
  private func compare<Subject>(_ subject: VisitSubject<Subject>) {
    var failures = 0
    for seed in 1...300 where failures < 3 {
      var generator = SeededGenerator(seed: UInt64(seed))
      let steps = (0..<40).map { _ in VisitStep.random(&generator) }
      let expected = ModelVisits(subject.isObject).take(all: steps)
      let given = RealVisits(subject).take(all: steps)
      guard given != expected else { continue }
      failures += 1
      let index = zip(given, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
      Issue.record(
        """
        seed \(seed), line \(index): expected \(expected.dropFirst(index).first ?? "the end"), given \
        \(given[max(0, index - 3)..<min(given.count, index + 1)])
        \(steps.map { "  \($0)" }.joined(separator: "\n"))
        """)
    }
  }

  @Test("objects of a protocol for objects, of two classes")
  func protocolOfObjects() {
    compare(
      VisitSubject<any Numbered>(
        make: {
          $0 % 2 == 0 ? Whole($0) as any Numbered & Named & Marked & Primary<Int> : Other($0)
        }, number: { $0.number }))
  }

  @Test("objects of a class")
  func objectsOfAClass() {
    compare(VisitSubject<Based>(make: { Whole($0) }, number: { $0.counted() }))
  }

  @Test("objects of a protocol and a class, with one table")
  func classAndProtocol() {
    compare(VisitSubject<any Based & Named>(make: { Whole($0) }, number: { $0.number }))
  }

  @Test("objects of two protocols, with two tables")
  func composition() {
    compare(
      VisitSubject<any Numbered & Named & Marked>(
        make: {
          $0 % 2 == 0 ? Whole($0) as any Numbered & Named & Marked & Primary<Int> : Other($0)
        }, number: { $0.number }))
  }

  @Test("objects of a protocol with a type parameter")
  func primaryType() {
    compare(
      VisitSubject<any Primary<Int>>(
        make: {
          $0 % 2 == 0 ? Whole($0) as any Numbered & Named & Marked & Primary<Int> : Other($0)
        }, number: { $0.value }))
  }

  @Test("any objects")
  func anyObjects() {
    compare(
      VisitSubject<AnyObject>(
        make: { Whole($0) }, number: { ($0 as? Whole)?.number ?? 0 }))
  }

  @Test("objects and values of a protocol for both")
  func objectsAndValues() {
    compare(
      VisitSubject<any Named>(
        make: {
          switch $0 % 10 {
          case 1: Plain(number: $0)
          case 4: Single.number($0)
          default: Whole($0)
          }
        }, number: { $0.number }, isObject: { $0 != 1 && $0 != 4 }))
  }

  @Test("structures")
  func structures() {
    compare(
      VisitSubject<Plain>(
        make: { Plain(number: $0) }, number: { $0.number }, isObject: { _ in false }))
  }

  @Test("structures of one object, and of an object and a word, are values")
  func structuresLikeObjects() {
    struct Held {
      let object: Whole
    }
    struct Pair {
      let object: Whole
      let word = 1
    }
    compare(
      VisitSubject<Held>(
        make: { Held(object: Whole($0)) }, number: { $0.object.number }, isObject: { _ in false }))
    compare(
      VisitSubject<Pair>(
        make: { Pair(object: Whole($0)) }, number: { $0.object.number }, isObject: { _ in false }))
    compare(
      VisitSubject<Whole?>(
        make: { Whole($0) }, number: { $0?.number ?? 0 }, isObject: { _ in false }))
  }
}

private struct Failing: Error {}
private final class Refused: Error, Named {
  let number = 5
}

@Suite("Multicast of any type")
struct MulticastOfAnyTypeTests {
  @Test("errors are values, objects among them")
  func errors() {
    let errors = Multicast<any Error>()
    let token = errors.add(Refused())
    errors.add(Failing())
    #expect(errors.map { ($0 as? Refused)?.number ?? 0 } == [5, 0])
    #expect(errors.remove(token))
    #expect(errors.map { "\(type(of: $0))" } == ["Failing"])
  }

  @Test("an object that is only added strongly stays")
  func strong() {
    let kept = Multicast<any Numbered>()
    kept.add(Whole(1), strongly: true)
    kept.add(Whole(2))
    #expect(kept.map(\.number) == [1])
    #expect(kept.count == 1)
  }

  @Test("a target that is dead is removed and reported by a visit")
  func swept() {
    let list = Multicast<any Numbered>()
    let reported = LockedValue(0)
    list.onDiagnostic = { if case .diedUnreached = $0 { reported.withLock { $0 += 1 } } }
    let token = list.add(Whole(1))
    list.forEach { _ in Issue.record("the target is dead") }
    #expect(!list.contains(token))
    #expect(reported.withLock { $0 } == 1)
  }

  @Test("the targets are visited at any depth, and after the closure has released the list")
  func depth() {
    var list: Multicast<any Numbered>? = Multicast()
    let target = Whole(1)
    list?.add(target)
    var depth = 0
    func visit() {
      list?.forEach { _ in
        depth += 1
        if depth < 500 { visit() }
      }
    }
    visit()
    #expect(depth == 500)
    list?.add(target, priority: 1)
    list?.forEach {
      list = nil
      #expect($0.number == 1)
    }
    #expect(list == nil)
  }

  @Test("threads may add, remove and visit at the same time")
  func threads() async {
    final class Sent: Sendable {}
    let list = Multicast<Sent>()
    let kept = Sent()
    list.add(kept)
    let visits = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var visits = 0
          for _ in 0..<200 {
            let token = list.add(Sent(), strongly: true, once: true)
            list.forEach { if $0 === kept { visits += 1 } }
            list.remove(token)
          }
          return visits
        }
      }
      return await group.reduce(0, +)
    }
    #expect(visits == 1600)
    #expect(list.count == 1)
  }

  @Test("a once-only registration is visited once by many threads")
  func onceByThreads() async {
    final class Sent: Sendable {}
    let list = Multicast<Sent>()
    let kept = Sent()
    for _ in 0..<100 {
      list.add(kept, once: true)
      let visits = await withTaskGroup(of: Int.self) { group in
        for _ in 0..<4 { group.addTask { list.map { _ in 1 }.count } }
        return await group.reduce(0, +)
      }
      #expect(visits == 1)
      #expect(list.isEmpty)
    }
  }
}
