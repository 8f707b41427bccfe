// SPDX-License-Identifier: Apache-2.0
import Invocations

// How records are merged with those before them. A user's merge closure may change the stack, so it
// gets a copy. The copy is used only if the older call is still the newest.

/// The outcome of coalescing a step with earlier steps.
enum Merging {
  /// The earlier steps stand for the new one, which is dropped.
  case absorbed
  /// The last earlier step is replaced by this one, which stands for both.
  case replaced(Step)
  /// The new step is appended.
  case kept

  /// Applies the outcome. Returns false if the step is still to be appended.
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
  /// Decides how a step coalesces with earlier steps. Runs a closure of the user, which may change
  /// the stack.
  func merging(_ steps: [Step], _ step: Step, _ coalescing: UndoCoalescing) -> Merging {
    switch coalescing.rule {
    case .join: return .kept
    case .keepFirst: return steps.contains { $0.isLike(step) } ? .absorbed : .kept
    case .merge(let merge):
      guard case .call(.whole(let older), let target)? = steps.last,
        case .call(.whole(let newer), _) = step, steps.last?.isLike(step) == true
      else { return .kept }
      let both = older.call.recorded()
      do {
        guard try merge(both, newer.call.recorded()) else { return .kept }
        try both.checkKeepable()
      } catch {
        diagnose(.notCoalesced(UndoStep(step), error))
        return .kept
      }
      return .replaced(.call(.whole(both), target))
    }
  }

  /// Adds the steps of a group to the newest entry.
  ///
  /// - Returns: the steps that could not be added because a merge changed the stack.
  func coalesce(_ group: OpenGroup, _ coalescing: UndoCoalescing) -> [Step] {
    // The waiting steps are in `closing`, so that a merge can remove them.
    let level = closing.count
    closing.append(group.steps.reversed())
    while let step = closing[level].popLast() {
      let before = history.next(.undo)
      let outcome = before.map { merging($0.step.parts, step, coalescing) }
      guard let before, let outcome, let newest = history.next(.undo), newest.state == before.state,
        open.isEmpty, Step.areOne(newest.step.parts.last, before.step.parts.last)
      else { return [step] + closing.removeLast().reversed() }
      let state = history.newState()
      // A replaced call is released after the change, as the `deinit` of an argument may use the
      // stack.
      let replaced = before.step.parts.last
      defer { withExtendedLifetime((before, replaced)) {} }
      history.changeNext { entry in
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
  /// The steps of a group, or this step alone.
  var parts: [Step] {
    if case .group(let group) = self { group.steps } else { [self] }
  }

  /// Whether two steps are the same object to a merge, which changes only invocations.
  static func areOne(_ one: Step?, _ other: Step?) -> Bool { one?.call === other?.call }

  private var call: Invocation? {
    if case .call(.whole(let call), _) = self { call } else { nil }
  }

  /// Coalesces another step with this one.
  fileprivate mutating func coalesce(_ step: Step, _ outcome: Merging) {
    switch (self, outcome) {
    case (_, .absorbed): return
    case (.group(let group), _):
      // Appended in place: the group has no other owner, and it may be long.
      if !outcome.apply(to: &group.steps) { group.steps.append(step) }
    case (_, .replaced(let both)): self = both
    case (_, .kept): self = .group(StepGroup(name: nil, steps: [self, step]))
    }
  }
}
