// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Foundation
  import Forwarding
  import ForwardingTestSupport
  import Testing

  /// The protocol of a history's targets, with a requirement of each kind.
  @Forwardable
  protocol Hearing: AnyObject {
    func hear(_ number: Int)
    @Otherwise(-1) func weigh(_ number: Int) -> Int
    func check(_ number: Int) throws -> Int
    @Optional func rest(_ number: Int) -> Int?
    @Optional func rate(_ number: Int) throws -> Int
    @Optional func nap(_ number: Int)
    func mark(_ number: Int, _ text: String) throws
    func add(_ number: Int, to sum: inout Int)
  }

  private struct Failed: Error, Equatable { let number: Int }

  /// All messages to the targets of one multicast, and the results of their senders.
  private final class Transcript {
    var lines: [String] = []
  }

  private class Ear: Hearing {
    let number: Int
    let transcript: Transcript
    /// The action of the target in its next call.
    var errand: (() -> Void)?
    var fails = false

    init(_ number: Int, _ transcript: Transcript) {
      (self.number, self.transcript) = (number, transcript)
    }

    func note(_ what: String) {
      transcript.lines.append("\(number) \(what)")
      let errand = self.errand
      self.errand = nil
      errand?()
    }

    func hear(_ number: Int) { note("hears \(number)") }

    func weigh(_ number: Int) -> Int {
      note("weighs \(number)")
      return 100 * self.number + number
    }

    func check(_ number: Int) throws -> Int {
      note("checks \(number)")
      if fails { throw Failed(number: self.number) }
      return self.number
    }

    func mark(_ number: Int, _ text: String) throws {
      note("marks \(number) \(text)")
      if fails { throw Failed(number: self.number) }
    }

    func add(_ number: Int, to sum: inout Int) {
      note("adds \(number) to \(sum)")
      sum += number
    }
  }

  private final class RestingEar: Ear {}

  private final class OtherEar: Hearing {
    let ear: Ear
    init(_ ear: Ear) { self.ear = ear }
    func hear(_ number: Int) { ear.hear(number) }
    func weigh(_ number: Int) -> Int { ear.weigh(number) }
    func check(_ number: Int) throws -> Int { try ear.check(number) }
    func rest(_ number: Int) -> Int? {
      ear.note("rests \(number)")
      return number
    }
    func rate(_ number: Int) throws -> Int { try ear.check(number) }
    func nap(_ number: Int) { ear.note("naps \(number)") }
    func mark(_ number: Int, _ text: String) throws { try ear.mark(number, text) }
    func add(_ number: Int, to sum: inout Int) { ear.add(number, to: &sum) }
  }

  /// One multicast, and the targets that a history has made for it.
  private final class World {
    let multicast: Multicast<HearingProxy>
    let transcript = Transcript()
    var ears: [Int: (target: any Hearing, ear: Ear, token: ForwardingToken)] = [:]
    /// The queue of targets with a lane to it; it is suspended while a step is performed.
    let queue = DispatchQueue(label: "hearing later")
    static let blocking = DispatchQueue(label: "hearing")

    init(_ untyped: MulticastProxy) {
      multicast = Multicast(untyped)
      let transcript = transcript
      nonisolated(unsafe) let shared = transcript
      multicast.onDiagnostic = { diagnostic in
        switch diagnostic {
        case .deadTarget, .diedUnreached: shared.lines.append("dead")
        case .failed(_, let selector, let error): shared.lines.append("failed \(selector) \(error)")
        case .unheard(let selector, let error): shared.lines.append("unheard \(selector) \(error)")
        case .unanswered(let selector): shared.lines.append("unanswered \(selector)")
        default: break
        }
      }
    }

    /// Performs a step, and then all blocks that it enqueued.
    func performAndDrain(_ step: Step) {
      queue.suspend()
      perform(step)
      queue.resume()
      // A block may have enqueued more.
      var count = -1
      while true {
        let now = queue.sync { transcript.lines.count }
        if now == count { break }
        count = now
      }
    }

    private func lane(_ lane: Lane) -> DeliveryLane {
      switch lane {
      case .caller: .caller
      case .blocking: .blocking(Self.blocking)
      case .queue: .queue(queue)
      }
    }

    private func perform(_ step: Step) {
      switch step {
      case .add(let number, let isOther, let strongly, let priority, let once, let lane):
        let ear = isOther ? Ear(number, transcript) : RestingEar(number, transcript)
        let target: any Hearing = isOther ? OtherEar(ear) : ear
        let token = multicast.add(
          unchecked: target, strongly: strongly, on: self.lane(lane), priority: priority, once: once
        )
        ears[number] = (target, ear, token)
      case .remove(let number): ears[number].map { _ = multicast.remove($0.token) }
      case .block(let number): ears[number].map { _ = multicast.suspend($0.token) }
      case .unblock(let number): ears[number].map { _ = multicast.resume($0.token) }
      case .die(let number): ears[number] = nil
      case .fail(let number): ears[number]?.ear.fails.toggle()
      case .rule(let isFirst): multicast.resultRule = isFirst ? .first : .last
      case .errand(let number, let step):
        ears[number]?.ear.errand = { [unowned self] in perform(step) }
      case .tell(let number): multicast.proxy.hear(number)
      case .ask(let number): transcript.lines.append("weight \(multicast.proxy.weigh(number))")
      case .check(let number):
        do {
          transcript.lines.append("checked \(try multicast.proxy.check(number))")
        } catch { transcript.lines.append("thrown \(error)") }
      case .rest(let number):
        transcript.lines.append("rested \(String(describing: multicast.proxy.rest(number)))")
      case .rate(let number):
        do {
          transcript.lines.append("rated \(try multicast.proxy.rate(number))")
        } catch { transcript.lines.append("thrown \(error)") }
      case .nap(let number): multicast.proxy.nap(number)
      case .mark(let number):
        do {
          try multicast.proxy.mark(number, "text \(number)")
        } catch { transcript.lines.append("thrown \(error)") }
      case .sum(let number):
        var sum = 0
        multicast.proxy.add(number, to: &sum)
        transcript.lines.append("sum \(sum)")
      case .report(let number):
        let report = try? multicast.messages.hear.report(number)
        transcript.lines.append("report \(report?.entries.map { "\($0.outcome)" } ?? [])")
      }
    }

    enum Lane: CaseIterable { case caller, blocking, queue }

    indirect enum Step {
      case add(
        Int, isOther: Bool, strongly: Bool, priority: Int, once: Bool, lane: Lane)
      case remove(Int), block(Int), unblock(Int), die(Int), fail(Int), rule(isFirst: Bool)
      case errand(Int, Step)
      case tell(Int), ask(Int), check(Int), rest(Int), sum(Int), report(Int)
      case rate(Int), nap(Int), mark(Int)
    }
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
          number, isOther: .random(using: &random), strongly: .random(using: &random),
          priority: .random(in: -1...1, using: &random), once: number % 7 == 0,
          lane: number % 3 == 0 ? .allCases.randomElement(using: &random) ?? .caller : .caller)
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

    /// A class is known to omit a requirement after one of its objects was called: that call uses
    /// up a registration for one message, and later ones do not.
    private static func leaveOut() {
      let world = World(MulticastProxy())
      world.performAndDrain(
        .add(1, isOther: false, strongly: true, priority: 0, once: false, lane: .caller))
      for step in [World.Step.rest(1), .rate(1), .nap(1)] { world.performAndDrain(step) }
    }

    @Test("both have the same transcript of a random history")
    func histories() {
      Self.leaveOut()
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
          guard direct.transcript.lines == plain.transcript.lines else {
            Issue.record(
              """
              history \(seed + history), step \(number), \(step):
              called: \(direct.transcript.lines.suffix(8))
              messages: \(plain.transcript.lines.suffix(8))
              """)
            return
          }
        }
      }
    }
  }
#endif
