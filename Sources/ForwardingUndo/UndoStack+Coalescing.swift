import Invocations

// How records become a part of those before them. What merges may change the stack: it merges a copy, which is taken if
// the older call is still where it was.

/// What becomes of a step that coalesces with others.
enum Merging {
  /// They stand for it as they are.
  case absorbed
  /// The last of them becomes another one, which stands for both.
  case replaced(Step)
  /// It is kept behind them.
  case kept

  /// Makes it so; false if the step is still to be added.
  func apply(to steps: inout [Step]) -> Bool {
    switch self {
    case .kept: return false
    case .absorbed: return true
    case .replaced(let step):
      steps[steps.count - 1] = step
      return true
    }
  }
}

extension UndoStack {
  /// What becomes of a step behind others. Code of users runs here, which may change the stack.
  func merging(_ steps: [Step], _ step: Step, _ coalescing: UndoCoalescing) -> Merging {
    switch coalescing.rule {
    case .join: return .kept
    case .keepFirst: return steps.contains { $0.isLike(step) } ? .absorbed : .kept
    case .merge(let merge):
      guard case .call(.whole(let older), let target)? = steps.last,
        case .call(.whole(let newer), _) = step, steps.last?.isLike(step) == true
      else { return .kept }
      let both = older.recordedCopy()
      do {
        guard try merge(both, newer.recordedCopy()) else { return .kept }
        try both.checkKeepable()
      } catch {
        diagnose(.notCoalesced(UndoStep(step), error))
        return .kept
      }
      return .replaced(.call(.whole(both), target))
    }
  }

  /// Makes the steps of a group a part of the newest entry. Returns those that could not be, as a merge has changed
  /// the stack.
  func coalesce(_ group: OpenGroup, _ coalescing: UndoCoalescing) -> [Step] {
    // What waits for a merge may be removed by it.
    let level = closing.count
    closing.append(group.steps.reversed())
    while let step = closing[level].popLast() {
      let before = done.last
      let outcome = before.map { merging($0.step.parts, step, coalescing) }
      guard let before, let outcome, let newest = done.last, newest.state == before.state,
        open.isEmpty, Step.areOne(newest.step.parts.last, before.step.parts.last)
      else { return [step] + closing.removeLast().reversed() }
      let state = newState()
      records.replaceLast { entry in
        entry.step.coalesce(step, outcome)
        entry.state = state
        entry.name = entry.name ?? group.name
        if group.extras?.isDiscardable != true, entry.isDiscardable {
          entry.extras = .with(entry.extras, isDiscardable: false)
        }
      }
    }
    closing.removeLast()
    return []
  }
}

extension Step {
  /// The steps of a group, or this alone.
  var parts: [Step] {
    if case .group(let group) = self { group.steps } else { [self] }
  }

  /// Whether two are one step, as far as merges care: they change calls.
  static func areOne(_ one: Step?, _ other: Step?) -> Bool { one?.call === other?.call }

  private var call: Invocation? {
    if case .call(.whole(let call), _) = self { call } else { nil }
  }

  /// Makes another step a part of this one.
  fileprivate mutating func coalesce(_ step: Step, _ outcome: Merging) {
    switch (self, outcome) {
    case (_, .absorbed): return
    case (.group(let group), _):
      // In place: nobody else has the group, and it may be long.
      if !outcome.apply(to: &group.steps) { group.steps.append(step) }
    case (_, .replaced(let both)): self = both
    case (_, .kept): self = .group(StepGroup(name: nil, steps: [self, step]))
    }
  }
}
