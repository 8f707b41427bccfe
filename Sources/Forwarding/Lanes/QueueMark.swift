// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// The identity of the queue of a lane. It knows whether the current thread runs a block of the
/// queue, directly or through queues that target it.
final class QueueMark: Sendable {
  private static let marks = DispatchSpecificKey<QueueMark>()
  /// Set for the queues of blocking lanes.
  private static let waited = DispatchSpecificKey<Bool>()
  private static let making = Guarded(())

  /// A key of its own: under the common key, the mark of a queue in front hides that of the queue
  /// behind it.
  private let key = DispatchSpecificKey<Bool>()
  /// A global queue runs any number of blocks at a time, so a wait for it ends.
  private let isGlobal: Bool

  private init(isGlobal: Bool) { self.isGlobal = isGlobal }

  /// Returns the mark of a queue, which is created on the first call. Unlike the queue object, the
  /// mark identifies the queue: `DispatchQueue.global()` returns another object each time.
  static func of(_ queue: DispatchQueue) -> QueueMark {
    making.read { _ in
      if let known = queue.getSpecific(key: marks) { return known }
      let made = QueueMark(isGlobal: queue.label.hasPrefix("com.apple.root."))
      queue.setSpecific(key: marks, value: made)
      queue.setSpecific(key: made.key, value: true)
      return made
    }
  }

  /// Notes that senders wait for a queue.
  static func noteWaits(for queue: DispatchQueue) {
    if !of(queue).isGlobal { queue.setSpecific(key: waited, value: true) }
  }

  /// Whether the current thread runs a block of a queue that senders may wait for.
  static var isWaitedFor: Bool { DispatchQueue.getSpecific(key: waited) != nil }

  /// The foremost marked queue whose block the current thread runs; nil for a global queue.
  static var current: QueueMark? {
    guard let mark = DispatchQueue.getSpecific(key: marks), !mark.isGlobal else { return nil }
    return mark
  }

  /// Whether the current thread runs a block of this queue.
  var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}

/// The queues of lanes that are blocked until the current thread finishes, because a delivery waits
/// in them.
///
/// The chain travels with a call from thread to thread: a queue may run a block on the thread that
/// waits for it, or on another.
final class BlockingChain: Sendable {
  private static let ofThread = ThreadLocal<BlockingChain>()

  /// The chain of a call that no sender waits for, or one that blocks no queue.
  static let nobody = BlockingChain(nil, nil)

  private let waiting: QueueMark?
  private let sender: BlockingChain?

  private init(_ waiting: QueueMark?, _ sender: BlockingChain?) {
    self.waiting = waiting
    self.sender = sender
  }

  /// Whether the current thread runs no block of a marked queue, and no chain.
  static var isFree: Bool { !ofThread.isSet && QueueMark.current == nil }

  /// Whether the current thread runs a call that was handed to another queue, actor or executor.
  static var isInside: Bool { ofThread.isSet }

  /// Returns the chain for a call that the current thread is about to wait for; nil if the queue is
  /// part of that chain, so that waiting for the queue would never end.
  static func waiting(for mark: QueueMark) -> BlockingChain? {
    let chain = BlockingChain(QueueMark.current, ofThread.value)
    var next: BlockingChain? = chain
    while let link = next {
      if link.waiting === mark { return nil }
      next = link.sender
    }
    return chain
  }

  /// Runs `body` with this chain as that of the thread.
  func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    try Self.ofThread.with(self, body)
  }
}
