// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import Invocations

/// The thread on which a target gets its messages.
///
/// ```swift
/// let everyone = MulticastProxy()
/// everyone.add(screen, on: .mainActor)
/// everyone.add(logger, on: .queue(background))
/// everyone.add(sync, on: .blocking(background, deadline: .seconds(1)))
/// try Message<NoResult, Int32>("didSave:").report(42, on: everyone).queued  // 2
/// ```
public struct DeliveryLane: Sendable {
  enum Kind: Sendable {
    case caller
    case queue(MarkedQueue)
    case order(OrderedExecutor.Place)
  }

  let kind: Kind
  /// Whether the sender waits for the queue.
  private(set) var waits = false
  /// How long it waits; nil without a limit.
  private(set) var deadline: DispatchTimeInterval?
  /// Whether a message with a result that is not awaited is sent without its result, instead of
  /// being refused. Behind a proxy, a target that runs later must not keep the sender from the
  /// answers of other targets.
  private(set) var leavesQuestions = false

  /// The same lane, for a target behind a proxy.
  func leavingQuestions() -> DeliveryLane {
    var lane = self
    lane.leavesQuestions = true
    return lane
  }

  private init(kind: Kind) { self.kind = kind }

  /// On the sender's thread, before the send returns.
  public static let caller = DeliveryLane(kind: .caller)

  /// On a queue, later. The message is copied, and its arguments are retained. A message that
  /// refers to memory that cannot be retained is refused, and so is a message with a result that is
  /// not awaited: send it as a `Message` with `NoResult`.
  public static func queue(_ queue: DispatchQueue) -> DeliveryLane {
    DeliveryLane(kind: .queue(MarkedQueue(queue)))
  }

  /// On a queue, while the sender waits, at most until `deadline`. If the sender runs on the queue
  /// already, or on one that targets it, the target is called in place.
  ///
  /// A queue that itself waits for this delivery, through blocking lanes, would wait forever, and is
  /// refused as ``ForwardingError/wouldDeadlock(_:)``. That applies to concurrent queues too, because
  /// they cannot be distinguished from serial ones. Waits that the program makes itself are not
  /// seen, nor are two threads, each on a queue, that block on each other's queue: only a deadline
  /// ends such a wait.
  public static func blocking(
    _ queue: DispatchQueue, deadline: DispatchTimeInterval? = nil
  ) -> DeliveryLane {
    var lane = DeliveryLane.queue(queue)
    (lane.waits, lane.deadline) = (true, deadline)
    QueueMark.noteWaits(for: queue)
    return lane
  }

  /// On the main actor, later, like ``actor(_:)``.
  public static let mainActor = DeliveryLane.actor(MainActor.shared)

  /// On an actor, later. The same restrictions hold as for ``queue(_:)``. Messages stay in order:
  /// all targets that a proxy has on an actor get a message before any of them gets the next. Each
  /// has the priority and the task-local values of its sender.
  public static func actor(_ actor: any Actor) -> DeliveryLane {
    DeliveryLane(kind: .order(.actor(actor)))
  }

  /// On a task executor, later and in order, like ``actor(_:)``.
  public static func executor(_ executor: any TaskExecutor) -> DeliveryLane {
    DeliveryLane(kind: .order(.executor(executor)))
  }

  /// The queue, actor or executor, which distinguishes registrations of one target; nil for the
  /// caller's thread.
  var identity: ObjectIdentifier? {
    switch kind {
    case .caller: nil
    case .queue(let queue): ObjectIdentifier(queue.mark)
    case .order(let place): ObjectIdentifier(place.object)
    }
  }

  /// Whether the sender goes on at once.
  var isLater: Bool { identity != nil && !waits }

  /// Whether a call takes place on the thread of its sender, now.
  var isHere: Bool {
    switch kind {
    case .caller: true
    case .queue(let queue): waits && queue.mark.isCurrent
    case .order: false
    }
  }

  /// Whether a call may run after its sender has gone on.
  var outlivesSender: Bool { isLater || deadline != nil && !isHere }
}

/// A queue with its mark and its address. They are looked up when a lane is created, because the
/// proxy's registrations read them under their lock. An object, as each call copies its lane.
final class MarkedQueue: Sendable {
  let queue: DispatchQueue
  let mark: QueueMark
  let system: SystemQueue

  init(_ queue: DispatchQueue) {
    self.queue = queue
    mark = QueueMark.of(queue)
    system = SystemQueue(queue)
  }

  /// The name that its maker gave the queue; nil without one.
  var label: String? { queue.label.isEmpty ? nil : queue.label }
}

extension DeliveryLane: Equatable {
  public static func == (one: DeliveryLane, other: DeliveryLane) -> Bool {
    one.identity == other.identity && one.waits == other.waits && one.deadline == other.deadline
      && one.leavesQuestions == other.leavesQuestions
  }
}
