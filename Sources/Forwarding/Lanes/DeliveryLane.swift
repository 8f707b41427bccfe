public import Dispatch

/// On which thread a target gets its messages.
///
/// ```swift
/// let everyone = MulticastProxy()
/// everyone.add(screen, on: .actor(MainActor.shared))
/// everyone.add(logger, on: .queue(background))
/// everyone.add(sync, on: .blocking(background, deadline: .seconds(1)))
/// try Message<NoResult, Int32>("didSave:").deliver(42, on: everyone).queued  // 2
/// ```
public struct DeliveryLane: Sendable {
  enum Kind: Sendable {
    case caller
    case queue(MarkedQueue, isResultIgnored: Bool)
    case blocking(MarkedQueue, deadline: DispatchTimeInterval?)
    case actor(any Actor, isResultIgnored: Bool)
    case executor(any TaskExecutor, isResultIgnored: Bool)
  }

  let kind: Kind
  /// Whether a result that nobody waits for is left out, and no error: behind a face, who is told later is no
  /// reason that the sender gets no answer of others.
  private(set) var leavesQuestions = false

  /// The same lane, for a target behind a face.
  func leavingQuestions() -> DeliveryLane {
    var lane = self
    lane.leavesQuestions = true
    return lane
  }

  private init(kind: Kind) { self.kind = kind }

  /// On the sender's thread, before the send returns.
  public static let caller = DeliveryLane(kind: .caller)

  /// On a queue, later. The message is copied and its arguments are retained. A message that refers
  /// to memory that nobody keeps is refused. So is one with a result, unless the result is ignored:
  /// the sender then gets zero if nobody else answers.
  public static func queue(_ queue: DispatchQueue, ignoringResult: Bool = false) -> DeliveryLane {
    DeliveryLane(kind: .queue(MarkedQueue(queue), isResultIgnored: ignoringResult))
  }

  /// On a queue, while the sender waits, at most for `deadline`. A sender that is on the queue
  /// already, or on one that targets it, calls the target in place. A queue that waits for this
  /// delivery would wait for ever, and is refused as ``DeliveryOutcome/wouldDeadlock``; a concurrent
  /// queue as well, as nothing tells it from a serial one. Two threads, each on a queue, that block on each
  /// other's queue wait for ever: only a deadline ends that, as no thread knows what another one waits for.
  public static func blocking(
    _ queue: DispatchQueue, deadline: DispatchTimeInterval? = nil
  ) -> DeliveryLane {
    DeliveryLane(kind: .blocking(MarkedQueue(queue), deadline: deadline))
  }

  /// On an actor, `MainActor.shared` among them, later, as for ``queue(_:ignoringResult:)``. In
  /// order: all targets that a proxy has on an actor get a message before any gets the next.
  public static func actor(_ actor: any Actor, ignoringResult: Bool = false) -> DeliveryLane {
    DeliveryLane(kind: .actor(actor, isResultIgnored: ignoringResult))
  }

  /// On a task executor, later and in order, as for ``actor(_:ignoringResult:)``.
  public static func executor(
    _ executor: any TaskExecutor, ignoringResult: Bool = false
  ) -> DeliveryLane {
    DeliveryLane(kind: .executor(executor, isResultIgnored: ignoringResult))
  }

  /// The queue, actor or executor, to tell registrations of one target apart; nil for the caller's thread.
  var identity: ObjectIdentifier? {
    switch kind {
    case .caller: nil
    case .queue(let queue, _), .blocking(let queue, _): ObjectIdentifier(queue.mark)
    case .actor(let actor, _): ObjectIdentifier(actor)
    case .executor(let executor, _): ObjectIdentifier(executor)
    }
  }
}

/// A queue with its mark. That is found when a lane is made, because the registrations of a proxy look at it under
/// their lock.
struct MarkedQueue: Sendable {
  let queue: DispatchQueue
  let mark: QueueMark

  init(_ queue: DispatchQueue) {
    self.queue = queue
    mark = QueueMark.of(queue)
  }
}

extension DeliveryLane: Equatable {
  public static func == (one: DeliveryLane, other: DeliveryLane) -> Bool {
    guard one.identity == other.identity else { return false }
    return switch (one.kind, other.kind) {
    case (.caller, .caller): true
    case (.queue(_, let ignores), .queue(_, let otherIgnores)),
      (.actor(_, let ignores), .actor(_, let otherIgnores)),
      (.executor(_, let ignores), .executor(_, let otherIgnores)):
      ignores == otherIgnores
    case (.blocking(_, let deadline), .blocking(_, let otherDeadline)): deadline == otherDeadline
    case (.caller, _), (.queue, _), (.blocking, _), (.actor, _), (.executor, _): false
    }
  }
}
