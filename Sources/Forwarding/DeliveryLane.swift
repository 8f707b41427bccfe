public import Dispatch

/// On which thread a target gets its messages.
public struct DeliveryLane: Sendable {
  enum Kind: Sendable {
    case caller
    case queue(DispatchQueue, isResultIgnored: Bool)
    case blocking(DispatchQueue, deadline: DispatchTimeInterval?)
    case actor(any Actor, isResultIgnored: Bool)
    case executor(any TaskExecutor, isResultIgnored: Bool)
  }

  let kind: Kind

  /// On the sender's thread, before the send returns.
  public static let caller = DeliveryLane(kind: .caller)

  /// On a queue, later. The message is copied and its arguments retained; one that refers to
  /// memory which nobody keeps is refused, and so is one with a result, unless that is ignored.
  public static func queue(_ queue: DispatchQueue, ignoringResult: Bool = false) -> DeliveryLane {
    DeliveryLane(kind: .queue(queue, isResultIgnored: ignoringResult))
  }

  /// On a queue, while the sender waits, at most for `deadline`. On the queue itself that would
  /// wait for ever, and is refused.
  public static func blocking(
    _ queue: DispatchQueue, deadline: DispatchTimeInterval? = nil
  ) -> DeliveryLane {
    DeliveryLane(kind: .blocking(queue, deadline: deadline))
  }

  /// On an actor, `MainActor.shared` among them, later and in order; as for ``queue(_:ignoringResult:)``.
  public static func actor(_ actor: any Actor, ignoringResult: Bool = false) -> DeliveryLane {
    DeliveryLane(kind: .actor(actor, isResultIgnored: ignoringResult))
  }

  /// On a task executor, later and in order; as for ``queue(_:ignoringResult:)``.
  public static func executor(
    _ executor: any TaskExecutor, ignoringResult: Bool = false
  ) -> DeliveryLane {
    DeliveryLane(kind: .executor(executor, isResultIgnored: ignoringResult))
  }

  /// The queue, actor or executor, to tell registrations of one target apart; nil for the caller's thread.
  var identity: ObjectIdentifier? {
    switch kind {
    case .caller: nil
    case .queue(let queue, _), .blocking(let queue, _): ObjectIdentifier(queue)
    case .actor(let actor, _): ObjectIdentifier(actor)
    case .executor(let executor, _): ObjectIdentifier(executor)
    }
  }
}

/// Knows whether the current thread works for a queue.
enum QueueMark {
  private static let key = DispatchSpecificKey<ObjectIdentifier>()

  /// Marks a queue, so that ``isCurrent(_:)`` can tell; marking twice is harmless.
  static func mark(_ queue: DispatchQueue) {
    queue.setSpecific(key: key, value: ObjectIdentifier(queue))
  }

  static func isCurrent(_ queue: DispatchQueue) -> Bool {
    DispatchQueue.getSpecific(key: key) == ObjectIdentifier(queue)
  }
}
