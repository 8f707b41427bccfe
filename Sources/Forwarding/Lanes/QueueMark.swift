// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// The identity of a queue. It knows whether the current thread runs a block of the queue, directly
/// or through queues that target it.
final class QueueMark: Sendable {
  private static let innermost = DispatchSpecificKey<QueueMark>()
  private static let all = Guarded(MarkGroups())

  /// Each mark has a key of its own: under a common key, the value of a queue in front would hide
  /// that of the queue behind it.
  private let key = DispatchSpecificKey<Bool>()
  /// The number of marks that were created before this one.
  let number: Int
  /// A global queue runs any number of blocks at a time, so it has no end to wait for.
  private let isGlobal: Bool
  /// The marks of the queues that this one targets, among the first `end` marks.
  private let behind = Guarded<(end: Int, marks: [QueueMark])>((end: 0, marks: []))

  /// The proxies whose deliveries wait for this queue (outside), and the proxies for whose
  /// deliveries a block of this queue waits (inside). A proxy is listed once for each wait.
  private let waits = Guarded(Waits())

  private struct Waits {
    var outside: [ObjectIdentifier] = []
    var inside: [ObjectIdentifier] = []
  }

  /// One more outside wait, as the address of its proxy, or 0. It is entered without the lock,
  /// because most queues have one waiting sender at a time. A sender stores its proxy here before
  /// it reads `insideCount`. An inside wait is counted before it reads this word. So at least one
  /// of the two sees the other.
  private let onlyOutside = Atomic<UInt>(0)
  /// The number of inside waits, including those about to begin; changed under the lock.
  private let insideCount = Atomic(0)

  private init(_ number: Int, isGlobal: Bool) {
    self.number = number
    self.isGlobal = isGlobal
  }

  /// Returns the mark of a queue, which is created on the first call. Unlike the queue object, the
  /// mark identifies the queue: `DispatchQueue.global()` returns another object each time.
  static func of(_ queue: DispatchQueue) -> QueueMark {
    _ = globalQueuesAreMarked
    return mark(queue, isGlobal: false)
  }

  private static let globalQueuesAreMarked: Bool = {
    let classes: [DispatchQoS.QoSClass] = [
      .background, .utility, .default, .userInitiated, .userInteractive, .unspecified,
    ]
    for qos in classes { _ = mark(.global(qos: qos), isGlobal: true) }
    return true
  }()

  private static func mark(_ queue: DispatchQueue, isGlobal: Bool) -> QueueMark {
    all.withLockInPlace { all in
      if let known = queue.getSpecific(key: innermost) { return known }
      let made = QueueMark(all.end, isGlobal: isGlobal)
      queue.setSpecific(key: innermost, value: made)
      queue.setSpecific(key: made.key, value: true)
      queue.setSpecific(key: all.add(made), value: true)
      return made
    }
  }

  /// Whether the current thread runs a block of any marked queue.
  static var isInside: Bool { DispatchQueue.getSpecific(key: innermost) != nil }

  /// Whether the current thread runs a block of this queue.
  var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }

  /// Runs `body`, in which a delivery of a proxy waits for this queue. Returns nil, without running
  /// it, if a block of the queue waits for deliveries of that proxy.
  func outside<Result>(
    of proxy: ObjectIdentifier, _ body: () throws -> Result
  ) rethrows -> Result? {
    if isGlobal { return try body() }
    let isOnly = onlyOutside.compareExchange(
      expected: 0, desired: UInt(bitPattern: proxy), ordering: .sequentiallyConsistent
    ).exchanged
    if isOnly {
      defer { onlyOutside.store(0, ordering: .releasing) }
      if insideCount.load(ordering: .sequentiallyConsistent) == 0 { return try body() }
    }
    return try outsideInTurn(of: proxy, body)
  }

  private func outsideInTurn<Result>(
    of proxy: ObjectIdentifier, _ body: () throws -> Result
  ) rethrows -> Result? {
    let isFree = waits.withLockInPlace { waits in
      if waits.inside.contains(proxy) { return false }
      waits.outside.append(proxy)
      return true
    }
    guard isFree else { return nil }
    defer { waits.withLockInPlace { $0.outside.removeLast(proxy) } }
    return try body()
  }

  /// Whether a delivery waits for this queue; for tests.
  var isWaitedFor: Bool {
    onlyOutside.load(ordering: .acquiring) != 0 || waits.read { !$0.outside.isEmpty }
  }

  /// Runs `body`, which waits for deliveries of a proxy in a block of this queue. Returns nil,
  /// without running it, if such a delivery waits for the queue.
  func inside<Result>(of proxy: AnyObject, _ body: () throws -> Result) rethrows -> Result? {
    if isGlobal { return try body() }
    let proxy = ObjectIdentifier(proxy)
    let isFree = waits.withLockInPlace { waits in
      insideCount.add(1, ordering: .sequentiallyConsistent)
      let only = onlyOutside.load(ordering: .sequentiallyConsistent)
      if only == UInt(bitPattern: proxy) || waits.outside.contains(proxy) {
        insideCount.subtract(1, ordering: .releasing)
        return false
      }
      waits.inside.append(proxy)
      return true
    }
    guard isFree else { return nil }
    defer {
      waits.withLockInPlace { waits in
        waits.inside.removeLast(proxy)
        insideCount.subtract(1, ordering: .releasing)
      }
    }
    return try body()
  }

  /// The marked queues whose blocks the current thread runs, without global queues.
  static var current: [QueueMark] {
    guard let mark = DispatchQueue.getSpecific(key: innermost), !mark.isGlobal else { return [] }
    let known = mark.behind.read { $0 }
    // The target queues of a queue are fixed before it runs its first block, so only marks that are
    // new since the last call need a check.
    let (end, groups) = all.read { all in (all.end, all.groups(from: known.end)) }
    if end == known.end { return [mark] + known.marks }
    let new = groups.filter(\.isCurrent).flatMap(\.marks).filter {
      $0.number >= known.end && $0.number < end && $0 !== mark && !$0.isGlobal && $0.isCurrent
    }
    let behind = known.marks + new
    mark.behind.withLock { if $0.end < end { $0 = (end, behind) } }
    return [mark] + behind
  }
}

extension [ObjectIdentifier] {
  fileprivate mutating func removeLast(_ proxy: ObjectIdentifier) {
    if let index = lastIndex(of: proxy) { remove(at: index) }
  }
}

/// The queues that are blocked until the current thread finishes, because a delivery waits in them.
///
/// The chain travels with a message from thread to thread: a queue may run a block on the thread
/// that waits for it, or on another.
final class BlockingChain: Sendable {
  private static let ofThread = ThreadLocal<BlockingChain>()

  /// The chain of a message that no sender waits for.
  static let nobody = BlockingChain([], nil)

  private let waiting: [QueueMark]
  private let sender: BlockingChain?

  private init(_ waiting: [QueueMark], _ sender: BlockingChain?) {
    self.waiting = waiting
    self.sender = sender
  }

  /// Whether the current thread runs no block of a marked queue, and no chain.
  static var isFree: Bool { !isRunning && !QueueMark.isInside }

  /// Whether the current thread runs a chain.
  private static var isRunning: Bool { !ThreadChains.areNone && ofThread.isSet }

  /// Whether the current thread runs a message that was handed to another queue, actor or executor.
  static var isInside: Bool { ofThread.value != nil || CarriedCall.isInside }

  /// Runs `body`, a carried call that is marked as one, without a chain, whatever the current
  /// thread is running.
  static func runForNobody(_ body: () -> Void) {
    if isRunning { nobody.run(body) } else { body() }
  }

  /// Returns the chain for a message that the current thread is about to wait for; nil if the queue
  /// is part of that chain, so that waiting for the queue would never end.
  static func waiting(for mark: QueueMark) -> BlockingChain? {
    let chain = BlockingChain(QueueMark.current, ofThread.value)
    var next: BlockingChain? = chain
    while let link = next {
      if link.waiting.contains(where: { $0 === mark }) { return nil }
      next = link.sender
    }
    return chain
  }

  /// Runs `body` with this chain as that of the thread.
  func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    try ThreadChains.with { try Self.ofThread.with(self, body) }
  }
}
