// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport

/// One step of a history: an operation on a proxy, or the actions of its targets while they are
/// called.
indirect enum Step: CustomStringConvertible {
  case add(Int, isBlocking: Bool, priority: Int?, group: Int?, once: Bool)
  case scope(Int)
  case endScope(Int)
  case remove(Int)
  case removeTarget(Int)
  case removeGroup(Int)
  case removeAll
  case block(Int)
  case unblock(Int)
  /// Releases the last reference to a target.
  case kill(Int)
  /// Puts another object into the slot of a target.
  case revive(Int)
  case firstAnswer(Bool)
  case zero(Bool)
  case duplicates(Int)
  /// The called targets take the inner steps, one each.
  case send(hasResult: Bool, [Step])
  case report(hasResult: Bool, [Step])
  /// The target throws.
  case fail
  case count

  var description: String {
    switch self {
    case .add(let slot, let isBlocking, let priority, let group, let once):
      "add(\(slot)\(isBlocking ? " blocking" : "")\(priority.map { " priority \($0)" } ?? "")"
        + "\(group.map { " group \($0)" } ?? "")\(once ? " once" : ""))"
    case .scope(let slot): "scope(\(slot))"
    case .endScope(let index): "endScope(#\(index))"
    case .remove(let index): "remove(#\(index))"
    case .removeTarget(let slot): "removeTarget(\(slot))"
    case .removeGroup(let group): "removeGroup(\(group))"
    case .removeAll: "removeAll"
    case .block(let index): "block(#\(index))"
    case .unblock(let index): "unblock(#\(index))"
    case .kill(let slot): "kill(\(slot))"
    case .revive(let slot): "revive(\(slot))"
    case .firstAnswer(let isFirst): "firstAnswer(\(isFirst))"
    case .zero(let isZero): "zero(\(isZero))"
    case .duplicates(let rule): "duplicates(\(["ignore", "allow"][rule]))"
    case .send(let hasResult, let inner): "send(\(hasResult ? "step:" : "note:") \(inner))"
    case .report(let hasResult, let inner): "report(\(hasResult ? "step:" : "note:") \(inner))"
    case .fail: "fail"
    case .count: "count"
    }
  }

  static let slots = 6

  static func random(_ generator: inout SeededGenerator, depth: Int = 0) -> Step {
    func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
    func inner() -> [Step] {
      guard depth < 3 else { return [] }
      return (0..<number(4)).map { _ in random(&generator, depth: depth + 1) }
    }
    switch number(34) {
    case 0...8:
      return .add(
        number(slots), isBlocking: number(5) == 0, priority: number(3) == 0 ? number(3) : nil,
        group: number(4) == 0 ? number(2) : nil, once: number(5) == 0)
    case 9: return .scope(number(slots))
    case 10: return .endScope(number(4))
    case 11, 12: return .remove(number(12))
    case 13: return .removeTarget(number(slots))
    case 14: return .removeGroup(number(2))
    case 15: return number(3) == 0 ? .removeAll : .count
    case 16, 17: return .block(number(12))
    case 18, 19: return .unblock(number(12))
    case 20, 21: return .kill(number(slots))
    case 22, 23: return .revive(number(slots))
    case 24: return .firstAnswer(number(3) == 0)
    case 25: return .zero(number(2) == 0)
    case 26: return .duplicates(number(2))
    case 27: return depth > 0 ? .fail : .count
    case 28...31: return .send(hasResult: number(2) == 0, inner())
    default: return .report(hasResult: number(2) == 0, inner())
    }
  }
}

/// Takes the steps of a history and records the outcome of each.
protocol World: AnyObject {
  var transcript: [String] { get set }
  func take(_ step: Step) -> String
}

extension World {
  func take(all steps: [Step]) -> [String] {
    for step in steps {
      let came = take(step)
      transcript.append(came)
    }
    return transcript
  }
}
