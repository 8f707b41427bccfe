// SPDX-License-Identifier: Apache-2.0
/// An undo or a redo in progress.
final class UndoOperation {
  enum Direction: Sendable { case undo, redo }

  let direction: Direction
  /// The entry being performed. It returns to its stack if the undo fails. Nil if it was removed
  /// meanwhile.
  var entry: Entry?
  /// The steps that are still to be performed, the next one last.
  var remaining: [Step]
  /// The groups that were open when it began.
  var outer: [OpenGroup]
  /// The enclosing undo or redo, if this one takes back a group inside it.
  let parent: UndoOperation?
  /// The number of unmatched `disableRecording()` calls when it began.
  let disabledCount: Int
  /// Net `disableRecording()` calls made by its own steps.
  var disabledInside = 0
  var isRollingBack = false
  /// Whether a step reached its target.
  var hasPerformed = false
  /// Whether a step was skipped because its target has died.
  var hasSkipped = false
  /// Distinguishes the task that performs an awaited undo from other tasks. Nil if the undo is not
  /// awaited.
  let ticket: Ticket?
  /// The state that `go(to:)` leads to, over any number of entries. Nil for an undo of one entry.
  var place: Int?
  /// The entries that were performed before `entry`, in this order, and what each recorded.
  var stages: [Stage] = []
  /// Whether steps were removed meanwhile, so that it leads to a state that never existed.
  var isLost = false
  /// Entries recorded by other tasks while a step was suspended, with their names and extras.
  var deferred: [Entry] = []

  final class Ticket: Sendable {
    @TaskLocal static var current: Ticket?
  }

  /// An entry that was performed.
  struct Stage {
    /// Nil if it was removed meanwhile.
    var entry: Entry?
    /// The steps that it recorded, which reverse it.
    var recorded: OpenGroup?
    let hasPerformed: Bool
    let hasSkipped: Bool

    /// Whether a step of an entry that is not discardable was skipped.
    var leftOut: Bool { hasSkipped && entry?.isDiscardable != true }
    /// Whether it was performed but recorded nothing, so it cannot be reversed.
    var isOneWay: Bool { hasPerformed && recorded?.steps.isEmpty != false }
  }

  init(
    _ direction: Direction, _ entry: Entry, outer: [OpenGroup], parent: UndoOperation?,
    disabledCount: Int, isAwaited: Bool
  ) {
    self.direction = direction
    self.entry = entry
    self.outer = outer
    self.parent = parent
    self.disabledCount = disabledCount
    remaining = [entry.step]
    ticket = isAwaited ? Ticket() : nil
  }

  /// Whether the caller is another task, which runs while a step is suspended.
  var isElsewhere: Bool { ticket != nil && Ticket.current !== ticket }

  /// Removes and returns the next step that is not a group; groups are expanded.
  func next() -> Step? {
    while let step = remaining.popLast() {
      guard case .group(let group) = step else { return step }
      remaining += group.steps
    }
    return nil
  }

  /// A stage of the current entry, with what it recorded.
  func stage(_ recorded: OpenGroup?) -> Stage {
    Stage(
      entry: entry, recorded: recorded, hasPerformed: hasPerformed, hasSkipped: hasSkipped)
  }

  /// Continues with the next entry.
  func goOn(with next: Entry, after stage: Stage) {
    stages.append(stage)
    entry = next
    remaining = [next.step]
    (hasPerformed, hasSkipped) = (false, false)
  }

  /// Marks the waiting event group as over. It closes when this undo has ended.
  func endEvent() {
    if outer.first?.kind == .byEvent { return outer[0].isOver = true }
    parent?.endEvent()
  }

  /// Runs `body` as a part of this undo, on the actor of the caller.
  func awaiting<Result>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async -> Result
  ) async -> Result {
    await Ticket.$current.withValue(ticket) {
      _ = isolation
      return await body()
    }
  }
}
