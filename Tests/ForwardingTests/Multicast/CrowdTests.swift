// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing

/// Many targets, compared with a plain array after each operation.
@Suite("Multicast: many targets")
struct CrowdTests {
  /// The expected state of a registration.
  private struct Known: Equatable {
    let token: ForwardingToken
    let name: Int
    var priority: Int
    var blocks = 0
  }

  /// A proxy, its expected contents, and the messages that its targets received.
  private final class Crowd {
    let proxy = MulticastProxy()
    let log = Guarded<[Int]>([])
    var targets: [CrowdTarget] = []
    var known: [Known] = []
    var gone: [ForwardingToken] = []

    init(_ number: Int) {
      proxy.duplicateRule = .allow
      targets = (0..<number).map { CrowdTarget($0, log) }
    }

    func add(_ name: Int, _ priority: Int, strongly: Bool) {
      let token = proxy.add(targets[name], strongly: strongly, priority: priority)
      let index = known.firstIndex { $0.priority < priority } ?? known.endIndex
      known.insert(Known(token: token, name: name, priority: priority), at: index)
    }

    /// The names of the targets that a message should reach.
    var expected: [Int] { known.filter { $0.blocks == 0 }.map(\.name) }

    func send() throws -> [Int] {
      log.withLock { $0 = [] }
      try CrowdTarget.note(1, on: proxy)
      return log.withLock { $0 }
    }

    func take(_ step: Int, _ generator: inout SeededGenerator) {
      let name = Int.random(in: 0..<targets.count, using: &generator)
      let index = known.isEmpty ? nil : Int.random(in: 0..<known.count, using: &generator)
      switch step {
      case 0...5:
        add(name, [0, 0, 0, 1, -1].randomElement(using: &generator)!, strongly: step == 0)
      case 6...8:
        guard let index else { return }
        let one = known.remove(at: index)
        gone.append(one.token)
        #expect(proxy.remove(one.token))
      case 9, 10:
        let before = known.count
        gone += known.filter { $0.name == name }.map(\.token)
        known.removeAll { $0.name == name }
        #expect(proxy.remove(targets[name]) == before - known.count)
      case 11:
        guard let index else { return }
        known[index].blocks += 1
        #expect(proxy.suspend(known[index].token))
      case 12:
        guard let index else { return }
        #expect(proxy.resume(known[index].token) == (known[index].blocks > 0))
        known[index].blocks = max(0, known[index].blocks - 1)
      default: check(name, index)
      }
    }

    private func check(_ name: Int, _ index: Int?) {
      #expect(proxy.contains(targets[name]) == known.contains { $0.name == name })
      if let index { #expect(proxy.contains(known[index].token)) }
      guard let token = gone.last else { return }
      #expect(!proxy.contains(token))
      #expect(!proxy.remove(token))
      #expect(!proxy.suspend(token))
    }
  }

  @Test(
    "a large proxy behaves as an array: add, remove by token and target, contains, block, send",
    arguments: [100, 600, 2000])
  func model(_ number: Int) throws {
    for seed in 1...4 as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let crowd = Crowd(number)
      for name in 0..<number { crowd.add(name, name % 7 == 0 ? 1 : 0, strongly: false) }
      for round in 0..<60 {
        // Mostly growing, then mostly shrinking.
        for _ in 0..<20 {
          let step = Int.random(in: round < 30 ? 0...14 : 4...14, using: &generator)
          crowd.take(step, &generator)
        }
        try #require(crowd.send() == crowd.expected)
      }
      #expect(crowd.proxy.registrationCount == crowd.known.count)
      #expect(crowd.proxy.removeAll() == crowd.known.count)
      #expect(try crowd.send().isEmpty)
    }
  }

  @Test("a delivery uses its own list, whatever its targets add and remove")
  func ownList() throws {
    let crowd = Crowd(700)
    for name in 0..<700 where name != 350 { crowd.add(name, 0, strongly: false) }
    crowd.targets[10].action = { [unowned crowd] in
      crowd.targets[10].action = nil
      // Removes targets before and after this one, and adds some.
      for name in stride(from: 5, to: 700, by: 30) { crowd.proxy.remove(crowd.targets[name]) }
      crowd.proxy.add(crowd.targets[350], priority: 1)
      crowd.proxy.add(crowd.targets[350], priority: -1)
      // A nested delivery sees the new list.
      do { try CrowdTarget.note(1, on: crowd.proxy) } catch { Issue.record(error) }
    }
    let told = try crowd.send()
    let removed = Set(stride(from: 5, to: 700, by: 30))
    let inner = [350] + (0..<700).filter { !removed.contains($0) && $0 != 350 } + [350]
    let outer = (0..<700).filter { $0 != 350 && ($0 <= 10 || !removed.contains($0)) }
    #expect(told == Array(outer.prefix { $0 <= 10 }) + inner + outer.drop { $0 <= 10 })
  }

  @Test("a report has an entry for each target, in order, with its error")
  func report() throws {
    let crowd = Crowd(400)
    for name in 0..<400 { crowd.add(name, 0, strongly: false) }
    crowd.targets[200].fails = true
    crowd.targets[201].fails = true
    crowd.proxy.suspend(crowd.known[300].token)
    crowd.targets[399].action = { [unowned crowd] in crowd.proxy.remove(crowd.known[0].token) }
    crowd.targets[100].action = { [unowned crowd] in crowd.proxy.remove(crowd.known[101].token) }
    let report = try CrowdTarget.note.report(1, on: crowd.proxy)
    #expect(report.entries.map(\.token) == crowd.known.map(\.token))
    #expect(report.answered == 400 - 4)
    #expect(report.errors as? [Failure] == [Failure(name: "200"), Failure(name: "201")])
    let others = report.entries.enumerated().filter { !$0.element.outcome.isAnswer }
    #expect(others.map(\.offset) == [101, 200, 201, 300])
  }
}

private final class CrowdTarget: MethodDeclaring, @unchecked Sendable {
  static let note = try! Message<NoResult, Int32>("note:")

  let name: Int
  let log: Guarded<[Int]>
  var action: (() -> Void)?
  var fails = false

  init(_ name: Int, _ log: Guarded<[Int]>) {
    self.name = name
    self.log = log
  }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("note:") { (self: CrowdTarget, _: Int32) throws -> Void in
      self.log.withLockInPlace { $0.append(self.name) }
      self.action?()
      if self.fails { throw Failure(name: "\(self.name)") }
    }
  }
}
