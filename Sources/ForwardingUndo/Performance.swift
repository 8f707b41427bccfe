/// An undo or a redo that is under way.
final class Performance {
  enum Direction: Sendable { case undo, redo }

  let direction: Direction
  /// What is performed, and goes back to its place if that fails; nil if it was removed meanwhile.
  var entry: Entry?
  /// What is still to be performed, the next one last.
  var remaining: [Step]
  /// The groups that were open.
  var outer: [OpenGroup]
  /// What it is a part of: the one in which a group is taken back.
  let parent: Performance?
  /// How often recording was disabled when it began.
  let disabledCount: Int
  /// How often it was disabled since, by what is a part of it.
  var disabledInside = 0
  var isRollingBack = false
  /// Whether a step reached its target.
  var hasPerformed = false
  /// Whether one did not, because it has died.
  var hasSkipped = false
  /// Tells the task that awaits it from others; nil if nobody awaits it.
  let ticket: Ticket?
  /// The state that it leads to, over as many entries as that takes; nil if it is one entry.
  var place: Int?
  /// What was performed before the entry, and what that recorded, in this order.
  var stages: [Stage] = []
  /// Whether steps were removed meanwhile, so that it leads to where nobody was.
  var isLost = false
  /// What others recorded while a step was suspended, and what they say of it.
  var deferred: [Entry] = []

  final class Ticket: Sendable {
    @TaskLocal static var current: Ticket?
  }

  /// An entry that was performed.
  struct Stage {
    /// Nil if it was removed meanwhile.
    var entry: Entry?
    /// What it recorded.
    var recorded: OpenGroup?
    let hasPerformed: Bool
    let hasSkipped: Bool

    /// Whether it left out what counts.
    var leftOut: Bool { hasSkipped && entry?.isDiscardable != true }
    /// Whether there is no way back from it.
    var isOneWay: Bool { hasPerformed && recorded?.steps.isEmpty != false }
  }

  init(
    _ direction: Direction, _ entry: Entry, outer: [OpenGroup], parent: Performance?,
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

  /// Whether the caller is no part of it: it runs while a step is suspended.
  var isElsewhere: Bool { ticket != nil && Ticket.current !== ticket }

  /// The next step, out of its group.
  func next() -> Step? {
    while let step = remaining.popLast() {
      guard case .group(let group) = step else { return step }
      remaining += group.steps
    }
    return nil
  }

  /// The entry as it was performed.
  func stage(_ recorded: OpenGroup?) -> Stage {
    Stage(
      entry: entry, recorded: recorded, hasPerformed: hasPerformed, hasSkipped: hasSkipped)
  }

  /// Takes the next entry up.
  func goOn(with next: Entry, after stage: Stage) {
    stages.append(stage)
    entry = next
    remaining = [next.step]
    (hasPerformed, hasSkipped) = (false, false)
  }

  /// Notes that the event is over whose group waits for this.
  func endEvent() {
    if outer.first?.kind == .byEvent { return outer[0].isOver = true }
    parent?.endEvent()
  }

  /// Runs `body` as a part of it, where its caller runs.
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
