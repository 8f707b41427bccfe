#if Macros
  import Foundation
  import Forwarding
  import ForwardingTestSupport
  import Testing

  /// What a history does to targets: a requirement of each kind.
  @Forwardable
  protocol Hearing: AnyObject {
    func hear(_ number: Int)
    @Otherwise(-1) func weigh(_ number: Int) -> Int
    func check(_ number: Int) throws -> Int
    @Optional func rest(_ number: Int) -> Int?
    func add(_ number: Int, to sum: inout Int)
  }

  private struct Failed: Error, Equatable { let number: Int }

  /// Everything that the targets of one multicast hear, and what its senders get.
  private final class Transcript {
    var lines: [String] = []
  }

  private class Ear: Hearing {
    let number: Int
    let transcript: Transcript
    /// What the target does the next time that it is called.
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
    func add(_ number: Int, to sum: inout Int) { ear.add(number, to: &sum) }
  }

  /// Its faces send messages to all targets.
  private final class PlainProxy: MulticastProxy, @unchecked Sendable {}

  /// One multicast, and the targets that a history has made for it.
  private final class World {
    let multicast: Multicast<HearingProxy>
    let transcript = Transcript()
    var ears: [Int: (target: any Hearing, ear: Ear, token: MulticastProxy.Token)] = [:]
    static let queue = DispatchQueue(label: "hearing")

    init(_ proxy: MulticastProxy) {
      multicast = Multicast(proxy)
      let transcript = transcript
      nonisolated(unsafe) let shared = transcript
      multicast.onDiagnostic = { diagnostic in
        switch diagnostic {
        case .deadTarget: shared.lines.append("dead")
        case .failed(_, let selector, let error): shared.lines.append("failed \(selector) \(error)")
        case .unheard(let selector, let error): shared.lines.append("unheard \(selector) \(error)")
        case .unanswered(let selector): shared.lines.append("unanswered \(selector)")
        default: break
        }
      }
    }

    func perform(_ step: Step) {
      switch step {
      case .add(let number, let isOther, let strongly, let priority, let once, let blocks):
        let ear = isOther ? Ear(number, transcript) : RestingEar(number, transcript)
        let target: any Hearing = isOther ? OtherEar(ear) : ear
        let token = multicast.add(
          unchecked: target, strongly: strongly, on: blocks ? .blocking(Self.queue) : .caller,
          priority: priority, once: once)
        ears[number] = (target, ear, token)
      case .remove(let number): ears[number].map { _ = multicast.remove($0.token) }
      case .block(let number): ears[number].map { _ = multicast.block($0.token) }
      case .unblock(let number): ears[number].map { _ = multicast.unblock($0.token) }
      case .die(let number): ears[number] = nil
      case .fail(let number): ears[number]?.ear.fails.toggle()
      case .rule(let isFirst): multicast.resultRule = isFirst ? .first : .last
      case .errand(let number, let step):
        ears[number]?.ear.errand = { [unowned self] in perform(step) }
      case .tell(let number): multicast.face.hear(number)
      case .ask(let number): transcript.lines.append("weight \(multicast.face.weigh(number))")
      case .check(let number):
        do {
          transcript.lines.append("checked \(try multicast.face.check(number))")
        } catch { transcript.lines.append("thrown \(error)") }
      case .rest(let number):
        transcript.lines.append("rested \(String(describing: multicast.face.rest(number)))")
      case .sum(let number):
        var sum = 0
        multicast.face.add(number, to: &sum)
        transcript.lines.append("sum \(sum)")
      case .report(let number):
        let report = try? multicast.messages.hear.report(number)
        transcript.lines.append("report \(report?.entries.map { "\($0.outcome)" } ?? [])")
      }
    }

    indirect enum Step {
      case add(
        Int, isOther: Bool, strongly: Bool, priority: Int, once: Bool, blocks: Bool)
      case remove(Int), block(Int), unblock(Int), die(Int), fail(Int), rule(isFirst: Bool)
      case errand(Int, Step)
      case tell(Int), ask(Int), check(Int), rest(Int), sum(Int), report(Int)
    }
  }

  @Suite("A face that calls its targets, and one that sends them messages,")
  struct BothWaysTests {
    private static func number(_ name: String) -> Int? {
      ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    private static func step(
      _ number: Int, _ made: Int, _ random: inout some RandomNumberGenerator, isErrand: Bool = false
    ) -> World.Step {
      let one = Int.random(in: 0...max(0, made), using: &random)
      switch Int.random(in: 0..<24, using: &random) {
      case 0..<5:
        return .add(
          number, isOther: .random(using: &random), strongly: .random(using: &random),
          priority: .random(in: -1...1, using: &random), once: number % 7 == 0,
          blocks: number % 5 == 0)
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
      default: return .tell(number)
      }
    }

    @Test("tell the same story, whatever happens in between")
    func histories() {
      let seed = Self.number("FORWARDING_SEED") ?? 1
      for history in 0..<(Self.number("FORWARDING_HISTORIES") ?? 300) {
        var random = SeededGenerator(seed: UInt64(seed + history))
        let (direct, plain) = (World(MulticastProxy()), World(PlainProxy()))
        for number in 1...40 {
          let step = Self.step(number, number, &random)
          direct.perform(step)
          plain.perform(step)
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
