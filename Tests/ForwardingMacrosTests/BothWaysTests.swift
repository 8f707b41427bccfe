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
    /// The queue of targets with a lane to it; it is suspended while a step is performed.
    let queue = DispatchQueue(label: "hearing later")
    private let blocking = DispatchQueue(label: "hearing")

    /// How the steps that tell and ask reach the targets.
    enum Route: CaseIterable {
      case called, awaited, lent, lentLater, visited

      var lanes: [Lane] {
        switch self {
        case .called: Lane.allCases
        case .awaited, .lent: [.caller, .blocking]
        case .lentLater, .visited: [.caller]
        }
      }

      /// Methods are called only where a message could be sent.
      var kinds: [Kind] {
        self == .called || self == .awaited ? Kind.allCases : [.ear, .full]
      }
    }

    init(_ untyped: MulticastProxy, _ route: Route = .called) {
      _ = Replaced.hasReplaced
      multicast = Multicast(untyped)
      self.route = route
      story.listen(to: untyped)
    }

    /// Performs a step by the world's route, and then all blocks that it enqueued.
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
      case (.lentLater, .tell(let number)): await proxy.lendLater(number)
      default: performAndDrain(step)
      }
    }

    /// What its targets and senders have told in a step, whatever the requirement is called.
    func take() -> [String] {
      story.take().map {
        $0.replacing("Later", with: "").replacing("unanswered lend:", with: "unanswered hear:")
          // The text of an error names the protocol while no other one has the requirement.
          .replacing(" of Hearing", with: "")
      }
    }

    /// Performs a step, and then all blocks that it enqueued.
    private func performAndDrain(_ step: Step) {
      queue.suspend()
      perform(step)
      queue.resume()
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
      case .blocking: .blocking(blocking)
      case .queue: .queue(queue)
      }
    }

    private func perform(_ step: Step) {
      let proxy = multicast.proxy
      switch step {
      case .add(let target) where target.kind == .closures:
        let (story, raw) = (story, ClosureTarget())
        let tell = { @Sendable (number: Int) in story.tell("\(target.number) hears \(number)") }
        try? raw.register("hear:") { (number: Int) in tell(number) }
        try? raw.register(
          "hearLater:", Implementation { (_: ClosureTarget, number: Int) async in tell(number) })
        multicast.untyped.add(raw, strongly: true, on: lane(target.lane))
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
      case .tell(let number) where route == .lent: try? proxy.lend { number }
      case .tell(let number) where route == .visited: multicast.forEach { $0.hear(number) }
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
      case .report(let number):
        tell("report") {
          // One that ended meanwhile may be in the report, or not any more.
          try multicast.messages.hear.report(number).entries.map { "\($0.outcome)" }
            .filter { $0 != "removed" }
        }
      }
    }

    enum Lane: CaseIterable, Sendable { case caller, blocking, queue }

    enum Kind: CaseIterable, Sendable { case ear, full, replaced, closures }

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
    }
  }

  @Suite("Proxies that call their targets, and proxies that send messages")
  struct BothWaysTests {
    private static func step(
      _ number: Int, _ made: Int, _ route: World.Route, _ random: inout some RandomNumberGenerator,
      isErrand: Bool = false
    ) -> World.Step {
      let one = Int.random(in: 0...max(0, made), using: &random)
      switch Int.random(in: 0..<28, using: &random) {
      case 0..<5:
        return .add(
          World.Target(
            number: number, kind: route.kinds.randomElement(using: &random) ?? .ear,
            strongly: .random(using: &random), priority: .random(in: -1...1, using: &random),
            // A once-only target gets no awaited requirement that is not a message.
            once: number % 7 == 0 && route != .lentLater,
            lane: number % 3 == 0 ? route.lanes.randomElement(using: &random) ?? .caller : .caller))
      case 5: return .remove(one)
      case 6: return .block(one)
      case 7: return .unblock(one)
      case 8: return .die(one)
      // `lend` throws where `hear` cannot.
      case 9 where route != .lent: return .fail(one)
      // A rule that changes during a delivery counts for it, or for the next one.
      case 10 where !isErrand: return .rule(isFirst: .random(using: &random))
      case 11..<14 where !isErrand:
        return .errand(one, step(number, made, route, &random, isErrand: true))
      case 14..<17: return .tell(number)
      case 17: return .ask(number)
      case 18, 19: return .check(number)
      case 20: return .rest(number)
      case 21: return .sum(number)
      case 22: return .report(number)
      case 23: return .rate(number)
      case 24: return .nap(number)
      case 25, 26: return .mark(number)
      default: return route == .lentLater ? .tell(number) : .again(one)
      }
    }

    /// What a class leaves out is known from its first call on.
    private static let known: Void = {
      for way in ProxyWay.allCases {
        let (targets, story) = (Multicast<HearingProxy>(way.untyped), Story())
        targets.onDiagnostic = { _ in }
        for ear in [Ear(1, story), Replaced(2, story)] { targets.add(ear, strongly: true) }
        for number in 1...2 {
          targets.proxy.nap(number)
          _ = targets.proxy.rest(number)
          _ = try? targets.proxy.rate(number)
        }
      }
    }()

    @Test(
      "both have the same transcript of a random history, whatever kind of requirement is called",
      arguments: World.Route.allCases)
    private func histories(_ route: World.Route) async {
      Self.known
      let seed = setting("FORWARDING_SEED", 1)
      for history in 0..<setting("FORWARDING_HISTORIES", route == .called ? 300 : 100) {
        var random = SeededGenerator(seed: UInt64(seed + history))
        let isSource = (seed + history) % 3 == 0 && route != .visited
        // Awaited messages are another way again.
        let untyped = [MulticastProxy(asksOne: isSource), MessagesAlone(asksOne: isSource)]
        let worlds = untyped.prefix(route == .awaited ? 2 : 1).map { World($0, route) }
        let plain = World(MessagesAlone(asksOne: isSource), .called)
        for number in 1...40 {
          let step = Self.step(number, number, route, &random)
          for world in worlds { await world.follow(step) }
          await plain.follow(step)
          // Nobody expects an answer of a visit.
          let sent = plain.take().filter { route != .visited || $0 != "unanswered hear:" }
          for world in worlds {
            let told = world.take()
            guard told == sent, world.multicast.count == plain.multicast.count else {
              Issue.record(
                """
                history \(seed + history), step \(number), \(step):
                \(type(of: world.multicast.untyped)): \(told)
                messages: \(sent)
                """)
              return
            }
          }
        }
      }
    }
  }
#endif
