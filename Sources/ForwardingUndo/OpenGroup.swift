// SPDX-License-Identifier: Apache-2.0
import Invocations

/// A group that is not closed yet.
struct OpenGroup {
  enum Kind { case byHand, byEvent, performing }

  let kind: Kind
  var name: String?
  private(set) var steps: [Step] = []
  /// The key that all its records share, and which of them are kept; nil if they share none.
  private(set) var joined: JoinedRecords?
  /// Whether its event has ended while groups inside it were open.
  var isOver = false

  mutating func append(_ step: Step, _ rule: UndoCoalescing? = nil) {
    if steps.isEmpty {
      joined = rule.map { JoinedRecords($0) }
    } else if joined?.key != rule?.key {
      joined = nil
    }
    if let rule, joined?.keeps(step, rule) == false { return }
    steps.append(step)
  }

  /// Removes and returns all steps.
  mutating func takeSteps() -> [Step] {
    defer { steps = [] }
    return steps
  }

  /// Removes the steps for one object. The caller retains a copy.
  mutating func remove(_ object: ObjectIdentifier) -> Bool {
    guard steps.remove(object) else { return false }
    joined = nil
    return true
  }
}

/// Consecutive records of one key, which one undo undoes.
struct JoinedRecords {
  /// The rule of the first record.
  let rule: UndoCoalescing
  /// The objects and messages whose first record is kept. Looked up for each record, so this is a
  /// set: a drag may record thousands of objects again with every frame.
  private var kept: Set<Recorded> = []

  private struct Recorded: Hashable {
    let object: ObjectIdentifier
    let selector: Selector?
    let label: String?
  }

  init(_ rule: UndoCoalescing) { self.rule = rule }

  var key: String { rule.key }

  /// Whether a step is kept, as one that is not the first of its object and message may not be.
  mutating func keeps(_ step: Step, _ rule: UndoCoalescing) -> Bool {
    guard rule.keepsFirst else { return true }
    let recorded: Recorded
    switch step {
    case .group: return true
    case .call(let call, let target):
      recorded = Recorded(object: target.identity, selector: call.selector, label: nil)
    case .run(let closure):
      recorded = Recorded(object: closure.target.identity, selector: nil, label: closure.label)
    }
    return kept.insert(recorded).inserted
  }
}
