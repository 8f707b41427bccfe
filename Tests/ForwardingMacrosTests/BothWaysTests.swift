// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Foundation
  import Invocations
  import Forwarding
  import ForwardingTestSupport
  import Testing

  /// A class with methods in place of requirements.
  private final class Replaced: Ear, @unchecked Sendable {
    static let hasReplaced: Void = {
      let table = MethodTable.of(Replaced.self)
      table.replace(
        "hear:",
        try! Implementation { (ear: Replaced, number: Int) in
          ear.story.tell("\(ear.number) replaces \(number)")
        })
      table.replace(
        "hearLater:",
        try! Implementation { (ear: Replaced, number: Int) async -> Void in
          ear.story.tell("\(ear.number) replaces \(number)")
        })
    }()
  }

  /// One multicast, and the targets that a history has made for it.
  private final class World {
    struct Added {
      let target: any Hearing
      let ear: Ear
      let lane: DeliveryLane
      let token: ForwardingToken
    }

    let multicast: Multicast<HearingProxy>
    let route: Route
    let story = Story()
    private var added: [Int: Added] = [:]
    private let inner = Multicast<HearingProxy>()
    /// The queue of targets with a lane to it; it is suspended while a step is performed.
    let queue = DispatchQueue(label: "hearing later")
    static let blocking = DispatchQueue(label: "hearing")

    /// How the steps that tell and ask reach the targets.
    enum Route: CaseIterable {
      case called, awaited, lent, lentLater, visited
    }

    init(_ untyped: MulticastProxy, _ route: Route = .called) {
      _ = Replaced.hasReplaced
      multicast = Multicast(untyped)
      self.route = route
      story.listen(to: untyped)
    }

    /// Performs a step of a rule by the world's route.
    func follow(_ step: Step) async {
      let proxy = multicast.proxy
      switch (route, step) {
      case (.awaited, .tell(let number)): await proxy.hearLater(number)
      case (.awaited, .ask(let number)):
        let weight = await proxy.weighLater(number)
        tell("weight") { weight }
      case (.awaited, .check(let number)):
        let result: Result<Int, any Error>
        do { result = .success(try await proxy.checkLater(number)) } catch {
          result = .failure(error)
        }
        tell("checked") { try result.get() }
      case (.awaited, .rest(let number)):
        let answer = await proxy.restLater(number)
        tell("rested") { answer }
      case (.lent, .tell(let number)): try? proxy.lend { number }
      case (.lentLater, .tell(let number)): await proxy.lendLater(number)
      case (.visited, .tell(let number)): multicast.forEach { $0.hear(number) }
      default: perform(step)
      }
    }

    /// Performs a step, and then all blocks that it enqueued.
    func performAndDrain(_ step: Step) {
      queue.suspend()
      perform(step)
      queue.resume()
      drain()
    }

    func drain() {
      // A block may have enqueued more.
      var count = -1
      while true {
        let now = queue.sync { story.lines.count }
        if now == count { break }
        count = now
      }
    }

    private func tell<Answer>(_ what: String, _ send: () throws -> Answer) {
      do { story.tell("\(what) \(try send())") } catch { story.tell("thrown \(error)") }
    }

    private func lane(_ lane: Lane) -> DeliveryLane {
      switch lane {
      case .caller: .caller
      case .blocking: .blocking(Self.blocking)
      case .queue: .queue(queue)
      }
    }

    /// A target that has no class of this protocol.
    private func addOther(_ target: Target) {
      let story = story
      if target.kind == .proxy {
        inner.add(unchecked: Ear(target.number, story), strongly: true, on: lane(target.lane))
        multicast.add(inner.proxy)
      } else {
        let raw = ClosureTarget()
        let tell = { @Sendable (number: Int) in story.tell("\(target.number) hears \(number)") }
        try? raw.register("hear:") { (number: Int) in tell(number) }
        try? raw.register(
          "hearLater:", Implementation { (_: ClosureTarget, number: Int) async in tell(number) })
        multicast.untyped.add(raw, strongly: true, on: lane(target.lane))
      }
    }

    private func perform(_ step: Step) {
      let proxy = multicast.proxy
      switch step {
      case .add(let target) where target.kind == .proxy || target.kind == .closures:
        addOther(target)
      case .add(let target):
        let ear =
          target.kind == .replaced ? Replaced(target.number, story) : Ear(target.number, story)
        let object: any Hearing = target.kind == .full ? FullEar(ear) : ear
        let lane = lane(target.lane)
        let token = multicast.add(
          unchecked: object, strongly: target.strongly, on: lane, priority: target.priority,
          once: target.once)
        added[target.number] = Added(target: object, ear: ear, lane: lane, token: token)
      case .again(let number):
        if let one = added[number] {
          multicast.add(unchecked: one.target, strongly: true, on: one.lane, once: true)
        }
      case .remove(let number): added[number].map { _ = multicast.remove($0.token) }
      case .block(let number): added[number].map { _ = multicast.suspend($0.token) }
      case .unblock(let number): added[number].map { _ = multicast.resume($0.token) }
      case .die(let number): added[number] = nil
      case .fail(let number): added[number]?.ear.isBroken.toggle()
      case .rule(let isFirst): multicast.resultRule = isFirst ? .first : .last
      case .errand(let number, let step):
        added[number]?.ear.errand = { [unowned self] in perform(step) }
      case .tell(let number): proxy.hear(number)
      case .ask(let number): tell("weight") { proxy.weigh(number) }
      case .check(let number): tell("checked") { try proxy.check(number) }
      case .rest(let number): tell("rested") { proxy.rest(number) }
      case .rate(let number): tell("rated") { try proxy.rate(number) }
      case .nap(let number): proxy.nap(number)
      case .mark(let number): tell("marked") { try proxy.mark(number, "text \(number)") }
      case .sum(let number):
        var sum = 0
        proxy.add(number, to: &sum)
        tell("sum") { sum }
      case .count: tell("count") { multicast.count }
      case .report(let number):
        tell("report") {
          try multicast.messages.hear.report(number).entries.map { "\($0.outcome)" }
        }
      }
    }

    enum Lane: CaseIterable, Sendable { case caller, blocking, queue }

    enum Kind: Sendable { case ear, full, replaced, proxy, closures }

    struct Target: Sendable {
      let number: Int
      var kind = Kind.ear
      var strongly = true
      var priority = 0
      var once = false
      var lane = Lane.caller
    }

    indirect enum Step: Sendable {
      case add(Target)
      case again(Int)
      case remove(Int)
      case block(Int)
      case unblock(Int)
      case die(Int)
      case fail(Int)
      case rule(isFirst: Bool)
      case errand(Int, Step)
      case tell(Int)
      case ask(Int)
      case check(Int)
      case rest(Int)
      case sum(Int)
      case report(Int)
      case rate(Int)
      case nap(Int)
      case mark(Int)
      case count

      static func add(
        _ number: Int, _ kind: Kind = .ear, strongly: Bool = true, priority: Int = 0,
        once: Bool = false
      ) -> Step {
        .add(
          Target(number: number, kind: kind, strongly: strongly, priority: priority, once: once))
      }

      /// The step with its target on a lane: that of its number, where there are several.
      func on(_ lanes: [Lane]) -> Step {
        switch self {
        case .add(var target):
          target.lane = lanes[target.number % lanes.count]
          return .add(target)
        case .errand(let number, let step): return .errand(number, step.on(lanes))
        default: return self
        }
      }
    }
  }

  /// A promise to the targets of a multicast, as steps and all that they make known.
  private struct Rule: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The routes on which its steps exist.
    var routes = World.Route.allCases
    /// The routes on which its targets may be on a queue.
    var queued: [World.Route] = [.called, .awaited]
    let steps: [World.Step]
    let told: [String]

    static let answering: [World.Route] = [.called, .awaited]
    /// `lentLater` is missing: a once-only target gets no awaited requirement that is not a message.
    static let once: [World.Route] = [.called, .awaited, .lent, .visited]

    /// The lanes of the targets, one or several in turn.
    func lanes(_ route: World.Route) -> [[World.Lane]] {
      if route == .lentLater || route == .visited { return [[.caller]] }
      let isQueued = queued.contains(route)
      return [[.caller], [.blocking]] + (isQueued ? [[.queue]] : [])
        + (isQueued && route == .awaited ? [World.Lane.allCases] : [])
    }

    static let all: [Rule] = [
      Rule(
        testDescription: "targets are called in order, those of a higher priority first",
        steps: [.add(1), .add(2), .add(3, priority: 1), .tell(5)],
        told: ["3 hears 5", "1 hears 5", "2 hears 5"]),
      Rule(
        testDescription: "targets of all kinds are called in order",
        routes: answering,
        steps: [
          .add(2), .add(3, .replaced), .add(4, .closures), .add(5, .proxy), .add(6, .full),
          .add(7), .add(1, priority: 1), .tell(8),
        ],
        told: (1...7).map { "\($0) \($0 == 3 ? "replaces" : "hears") 8" }),
      Rule(
        testDescription: "a removed target is not called",
        steps: [.add(1), .add(2), .remove(1), .tell(5)], told: ["2 hears 5"]),
      Rule(
        testDescription: "a suspended target is called again once it is resumed",
        steps: [.add(1), .add(2), .block(1), .tell(5), .unblock(1), .tell(6)],
        told: ["2 hears 5", "1 hears 6", "2 hears 6"]),
      Rule(
        testDescription: "a target is held weakly, or strongly on request",
        steps: [
          .add(1, strongly: false), .add(2), .tell(4), .die(1), .die(2), .tell(5), .tell(6), .count,
        ],
        told: ["1 hears 4", "2 hears 4", "2 hears 5", "dead", "2 hears 6", "count 1"]),
      Rule(
        testDescription: "a weak target that died before its first call is told by its type",
        steps: [.add(1, strongly: false), .die(1), .add(2), .tell(5), .tell(6)],
        told: ["2 hears 5", "unreached Ear", "2 hears 6"]),
      Rule(
        testDescription: "a target that is removed, suspended or dies during a call is skipped",
        queued: [.awaited],
        steps: [
          .add(1), .add(2), .add(3), .add(4, strongly: false), .add(5), .errand(1, .remove(2)),
          .tell(5), .errand(1, .block(3)), .tell(6), .errand(1, .die(4)), .tell(7),
        ],
        told: [
          "1 hears 5", "3 hears 5", "4 hears 5", "5 hears 5",
          "1 hears 6", "4 hears 6", "5 hears 6", "1 hears 7", "5 hears 7", "dead",
        ]),
      Rule(
        testDescription: "a target that is added during a call gets the next one",
        steps: [.add(1), .errand(1, .add(2)), .tell(5), .tell(6)],
        told: ["1 hears 5", "1 hears 6", "2 hears 6"]),
      Rule(
        testDescription: "a once-only target is called once, and removed",
        routes: once, steps: [.add(1, once: true), .add(2), .count, .tell(5), .count, .tell(6)],
        told: ["count 2", "1 hears 5", "2 hears 5", "count 1", "2 hears 6"]),
      Rule(
        testDescription: "a once-only target that adds itself again is called again",
        routes: once,
        steps: [
          .add(1, once: true), .add(2), .errand(1, .again(1)), .tell(5), .tell(6), .tell(7),
        ],
        told: ["1 hears 5", "2 hears 5", "2 hears 6", "1 hears 6", "2 hears 7"]),
      Rule(
        testDescription: "a once-only target that throws was called",
        routes: answering, queued: [.awaited],
        steps: [.add(1, once: true), .add(2), .fail(1), .check(5), .check(6)],
        told: ["1 checks 5", "2 checks 5", "thrown Lame(name: \"1\")", "2 checks 6", "checked 2"]),
      Rule(
        testDescription:
          "an optional requirement that a class leaves out does not call its targets",
        routes: answering, queued: [.awaited],
        steps: [.add(1, once: true), .rest(5), .rest(6), .check(7), .rest(8)],
        told: [
          "unanswered rest:", "rested nil", "unanswered rest:", "rested nil", "1 checks 7",
          "checked 1", "unanswered rest:", "rested nil",
        ]),
      Rule(
        testDescription: "the first error is thrown after all targets, and the others are told",
        routes: answering, queued: [.awaited],
        steps: [.add(1), .add(2), .add(3), .add(4), .fail(2), .fail(4), .check(5)],
        told: [
          "1 checks 5", "2 checks 5", "3 checks 5", "4 checks 5",
          "failed check: Lame(name: \"4\")", "thrown Lame(name: \"2\")",
        ]),
      Rule(
        testDescription: "the last answer counts, or the first, which ends the asking",
        routes: answering, queued: [.awaited],
        steps: [.add(1), .add(2), .ask(5), .rule(isFirst: true), .ask(6), .tell(7)],
        told: [
          "1 weighs 5", "2 weighs 5", "weight 205", "1 weighs 6", "weight 106", "1 hears 7",
          "2 hears 7",
        ]),
      Rule(
        testDescription: "each target sees the changes that the one before it made of a variable",
        routes: [.called], queued: [], steps: [.add(1), .add(2), .sum(5)],
        told: ["1 adds 5 to 0", "2 adds 5 to 5", "sum 10"]),
      Rule(
        testDescription: "a call inside of a call comes before the rest of the outer one",
        routes: [.called, .awaited, .lent, .visited], queued: [],
        steps: [.add(1), .add(2), .errand(1, .tell(6)), .tell(5)],
        told: ["1 hears 5", "1 hears 6", "2 hears 6", "2 hears 5"]),
    ]
  }

  @Suite("Proxies that call their targets, and proxies that send messages")
  struct BothWaysTests {
    private static func number(_ name: String) -> Int? {
      ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    private static func step(
      _ number: Int, _ made: Int, _ random: inout some RandomNumberGenerator, isErrand: Bool = false
    ) -> World.Step {
      let one = Int.random(in: 0...max(0, made), using: &random)
      switch Int.random(in: 0..<28, using: &random) {
      case 0..<5:
        return .add(
          World.Target(
            number: number, kind: .random(using: &random) ? .full : .ear,
            strongly: .random(using: &random),
            priority: .random(in: -1...1, using: &random), once: number % 7 == 0,
            lane: number % 3 == 0 ? .allCases.randomElement(using: &random) ?? .caller : .caller))
      case 5: return .remove(one)
      case 6: return .block(one)
      case 7: return .unblock(one)
      case 8: return .die(one)
      case 9: return .fail(one)
      case 10: return .rule(isFirst: .random(using: &random))
      case 11..<14 where !isErrand:
        return .errand(one, step(number, made, &random, isErrand: true))
      case 14..<17: return .tell(number)
      case 17: return .ask(number)
      case 18, 19: return .check(number)
      case 20: return .rest(number)
      case 21: return .sum(number)
      case 22: return .report(number)
      case 23: return .rate(number)
      case 24: return .nap(number)
      case 25, 26: return .mark(number)
      default: return .tell(number)
      }
    }

    @Test(
      "targets are called as a rule promises, whatever the way and the route",
      arguments: Rule.all, ProxyWay.allCases)
    private func rules(_ rule: Rule, _ way: ProxyWay) async {
      for route in rule.routes where way == .calls || (route != .lent && route != .lentLater) {
        for lanes in rule.lanes(route) {
          let world = World(way.untyped, route)
          let isLater = route == .called && lanes.contains(.queue)
          for step in rule.steps.map({ $0.on(lanes) }) {
            if isLater { world.performAndDrain(step) } else { await world.follow(step) }
          }
          // The name of a requirement, awaited or not.
          let told = world.story.take().map { $0.replacing("Later", with: "") }
          // What is told of the dead comes before the turns on a queue.
          let isTold = { (line: String) in !isLater || line.contains { $0.isNumber } }
          #expect(told.filter(isTold) == rule.told.filter(isTold), "\(route) \(lanes)")
        }
      }
    }

    @Test("both have the same transcript of a random history")
    func histories() {
      let seed = Self.number("FORWARDING_SEED") ?? 1
      for history in 0..<(Self.number("FORWARDING_HISTORIES") ?? 300) {
        var random = SeededGenerator(seed: UInt64(seed + history))
        let isSource = (seed + history) % 3 == 0
        let direct = World(MulticastProxy(asksOne: isSource))
        let plain = World(MessagesAlone(asksOne: isSource))
        for number in 1...40 {
          let step = Self.step(number, number, &random)
          direct.performAndDrain(step)
          plain.performAndDrain(step)
          guard direct.story.lines == plain.story.lines else {
            Issue.record(
              """
              history \(seed + history), step \(number), \(step):
              called: \(direct.story.lines.suffix(8))
              messages: \(plain.story.lines.suffix(8))
              """)
            return
          }
        }
      }
    }
  }
#endif
