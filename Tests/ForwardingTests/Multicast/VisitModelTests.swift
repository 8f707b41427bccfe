// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Testing

/// Takes the steps with a multicast of any type.
private final class RealVisits<Subject>: RegistryWorld<Subject> {
  private let multicast: Multicast<Subject>
  private let makeOne: (Int) -> Subject
  private let number: (Subject) -> Int

  init(
    _ setting: Setting, _ make: @escaping (Int) -> Subject, _ number: @escaping (Subject) -> Int
  ) {
    (multicast, makeOne, self.number) = (Multicast(), make, number)
    super.init(setting, multicast)
  }

  override func make(_ number: Int) -> Subject { makeOne(number) }

  override func add(
    _ target: Subject, strongly: Bool, isBlocking: Bool, _ priority: Int?, _ group: String?,
    once: Bool
  ) -> ForwardingToken {
    multicast.add(target, strongly: strongly, priority: priority, group: group, once: once)
  }

  override var numbers: (count: Int, alive: [Int]) {
    (multicast.isEmpty ? 0 : multicast.count, multicast.targets.map(number))
  }

  override func deliver(_ step: Step) -> String {
    guard case .visit(let kind, _) = step else { return "" }
    /// Visits a target, and returns whether it is that of slot 2.
    func isLast(_ target: Subject) -> Bool {
      _ = called(number(target))
      return setting.slot(of: number(target)) == 2
    }
    switch kind {
    case .forEach:
      multicast.forEach { _ = isLast($0) }
      return ""
    case .map:
      return "\(multicast.map { target in _ = isLast(target); return number(target) })"
    case .first: return "\(multicast.first { isLast($0) }.map(number) ?? -1)"
    case .allSatisfy: return "\(multicast.allSatisfy { !isLast($0) })"
    case .fail:
      do {
        try multicast.forEach { target throws(Failure) in
          if isLast(target) { throw Failure(name: "\(number(target))") }
        }
        return "all"
      } catch {
        return error.name
      }
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
private func either(_ number: Int) -> any Numbered & Named & Marked & Primary<Int> {
  number % 2 == 0 ? Whole(number) : Other(number)
}

private struct Failing: Error {}
private final class Refused: Error, Named {
  let number = 5
}

private struct Held {
  let object: Whole
}
private struct Pair {
  let object: Whole
  let word = 1
}

/// A type whose values are the targets of histories.
private struct Targets {
  let compare: () async -> Void

  init<Subject>(
    _ kind: String, _ type: Subject.Type,
    isObject: @escaping @Sendable (Int) -> Bool = { _ in true },
    _ make: @escaping (Int) -> Subject, _ number: @escaping (Subject) -> Int
  ) {
    let setting = Setting(way: .visit, isObject: isObject)
    compare = {
      await ForwardingTests.compare(setting, of: kind) { RealVisits(setting, make, number) }
    }
  }

  static func values<Subject>(
    _ kind: String, _ type: Subject.Type, _ make: @escaping (Int) -> Subject,
    _ number: @escaping (Subject) -> Int
  ) -> Targets {
    Targets(kind, type, isObject: { _ in false }, make, number)
  }

  static func all() -> [Targets] {
    [
      Targets("objects of a protocol for objects, of two classes", (any Numbered).self, either) {
        $0.number
      },
      Targets("objects of a class", Based.self, Whole.init) { $0.counted() },
      Targets("objects of a protocol and a class", (any Based & Named).self, Whole.init) {
        $0.number
      },
      Targets("objects of two protocols", (any Numbered & Named & Marked).self, either) {
        $0.number
      },
      Targets("objects of a protocol with a type parameter", (any Primary<Int>).self, either) {
        $0.value
      },
      Targets("any objects", AnyObject.self, Whole.init) { ($0 as? Whole)?.number ?? 0 },
      Targets("objects and values", (any Named).self, isObject: { $0 != 1 && $0 != 4 }) { number in
        switch number % 8 {
        case 1: Plain(number: number)
        case 4: Single.number(number)
        default: Whole(number)
        }
      } _: {
        $0.number
      },
      .values("structures", Plain.self, Plain.init(number:)) { $0.number },
      .values("structures of one object", Held.self, { Held(object: Whole($0)) }) {
        $0.object.number
      },
      .values("of an object and a word", Pair.self, { Pair(object: Whole($0)) }) {
        $0.object.number
      },
      .values("optional objects", Whole?.self, Whole.init) { $0?.number ?? 0 },
    ]
  }
}

@Suite("Multicast of any type")
struct MulticastOfAnyTypeTests {
  @Test("a multicast of objects, of values, or of both behaves as its model")
  func histories() async {
    for targets in Targets.all() { await targets.compare() }
  }

  @Test("errors are values, objects among them")
  func errors() {
    let errors = Multicast<any Error>()
    let token = errors.add(Refused())
    errors.add(Failing())
    #expect(errors.map { ($0 as? Refused)?.number ?? 0 } == [5, 0])
    #expect(errors.remove(token))
    #expect(errors.map { "\(type(of: $0))" } == ["Failing"])
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
