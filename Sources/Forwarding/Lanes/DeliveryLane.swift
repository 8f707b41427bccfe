// SPDX-License-Identifier: Apache-2.0
public import Dispatch

/// The thread on which a target gets its messages.
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
  /// Whether a message with a result that is not awaited is sent without its result, instead of
  /// being refused. Behind a face, a target that runs later must not keep the sender from the
  /// answers of other targets.
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

  /// On a queue, later. The message is copied, and its arguments are retained. A message that
  /// refers to memory that cannot be retained is refused. A message with a result is refused too,
  /// unless the result is ignored: then the sender gets zero if no other target answers.
  public static func queue(_ queue: DispatchQueue, ignoringResult: Bool = false) -> DeliveryLane {
    DeliveryLane(kind: .queue(MarkedQueue(queue), isResultIgnored: ignoringResult))
  }

  /// On a queue, while the sender waits, at most until `deadline`. If the sender runs on the queue
  /// already, or on one that targets it, the target is called in place.
  ///
  /// A queue that itself waits for this delivery would wait forever, and is refused as
  /// ``DeliveryOutcome/wouldDeadlock``. That applies to concurrent queues too, because they cannot
  /// be distinguished from serial ones. Two threads, each on a queue, that block on each other's
  /// queue are not detected, because no thread knows what another one waits for: only a deadline
  /// ends that wait.
  public static func blocking(
    _ queue: DispatchQueue, deadline: DispatchTimeInterval? = nil
  ) -> DeliveryLane {
    DeliveryLane(kind: .blocking(MarkedQueue(queue), deadline: deadline))
  }

  /// On an actor, including `MainActor.shared`, later. The same restrictions hold as for
  /// ``queue(_:ignoringResult:)``. Messages stay in order: all targets that a proxy has on an actor
  /// get a message before any of them gets the next.
  public static func actor(_ actor: any Actor, ignoringResult: Bool = false) -> DeliveryLane {
    DeliveryLane(kind: .actor(actor, isResultIgnored: ignoringResult))
  }

  /// On a task executor, later and in order, like ``actor(_:ignoringResult:)``.
  public static func executor(
    _ executor: any TaskExecutor, ignoringResult: Bool = false
  ) -> DeliveryLane {
    DeliveryLane(kind: .executor(executor, isResultIgnored: ignoringResult))
  }

  /// The queue, actor or executor, which distinguishes registrations of one target; nil for the
  /// caller's thread.
  var identity: ObjectIdentifier? {
    switch kind {
    case .caller: nil
    case .queue(let queue, _), .blocking(let queue, _): ObjectIdentifier(queue.mark)
    case .actor(let actor, _): ObjectIdentifier(actor)
    case .executor(let executor, _): ObjectIdentifier(executor)
    }
  }
}

/// A queue with its mark. The mark is looked up when a lane is created, because the proxy's
/// registrations read it under their lock.
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
    guard one.identity == other.identity, one.leavesQuestions == other.leavesQuestions else {
      return false
    }
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
