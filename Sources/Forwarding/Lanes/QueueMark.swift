import Dispatch
import Synchronization

/// Knows whether the current thread works for a queue, directly or through queues that target it.
final class QueueMark: Sendable {
  private static let innermost = DispatchSpecificKey<QueueMark>()
  private static let all = Guarded(MarkGroups())

  /// Each queue has a key of its own: a value for a common key is hidden by that of a queue in front.
  private let key = DispatchSpecificKey<Bool>()
  /// How many marks there were before this one.
  let number: Int
  /// A global queue runs any number of blocks at a time, so nothing waits for its end.
  private let isGlobal: Bool
  /// The marks of the queues behind this one, of those that were made before a number.
  private let behind = Guarded<(end: Int, marks: [QueueMark])>((end: 0, marks: []))

  /// The proxies whose deliveries wait for this queue, and those whose deliveries this queue waits
  /// for. A proxy counts once for each wait.
  private let waits = Guarded(Waits())

  private struct Waits {
    var outside: [ObjectIdentifier] = []
    var inside: [ObjectIdentifier] = []
  }

  /// One more that waits from outside, found without the lock, as most queues are waited for by one sender at a
  /// time: the word of a proxy, or 0. Who puts itself here looks at `insideCount` next, and who waits inside is
  /// counted before it looks here, so one of the two sees the other.
  private let onlyOutside = Atomic<UInt>(0)
  /// How many wait inside, or are about to; changed under the lock.
  private let insideCount = Atomic(0)

  private init(_ number: Int, isGlobal: Bool) {
    self.number = number
    self.isGlobal = isGlobal
  }

  /// Returns the mark of a queue, made when it is asked for the first time. It tells queues apart,
  /// which objects do not: `DispatchQueue.global()` returns another object each time.
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

  /// Whether the current thread is inside of any marked queue.
  static var isInside: Bool { DispatchQueue.getSpecific(key: innermost) != nil }

  /// Whether the current thread is inside of this queue.
  var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }

  /// Runs `body`, in which a delivery of a proxy waits for this queue; nil if a block of the queue waits
  /// for the deliveries of that proxy.
  func outside<Result>(of proxy: AnyObject, _ body: () throws -> Result) rethrows -> Result? {
    if isGlobal { return try body() }
    let proxy = ObjectIdentifier(proxy)
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

  /// Runs `body`, which waits in this queue for the deliveries of a proxy; nil if one of them waits for
  /// the queue.
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

  /// The marked queues that the current thread is inside of, without global ones.
  static var current: [QueueMark] {
    guard let mark = DispatchQueue.getSpecific(key: innermost), !mark.isGlobal else { return [] }
    let known = mark.behind.read { $0 }
    // Which queues are behind one is settled before it has a block to run, so only marks that are new are asked.
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

/// The queues that wait for what the current thread does, because a delivery blocks in them.
///
/// It goes with a message from thread to thread: a queue may run a block on the thread that waits
/// for it, or on another.
final class BlockingChain: Sendable {
  private static let ofThread = ThreadLocal<BlockingChain>()

  /// A message for which nobody waits.
  static let nobody = BlockingChain([], nil)

  private let waiting: [QueueMark]
  private let sender: BlockingChain?

  private init(_ waiting: [QueueMark], _ sender: BlockingChain?) {
    self.waiting = waiting
    self.sender = sender
  }

  /// Whether the current thread is on no queue that is known, and nobody waits for what it does.
  static var isFree: Bool { !ofThread.isSet && !QueueMark.isInside }

  /// Whether the current thread is running a message that another queue, actor or executor was
  /// given.
  static var isInside: Bool { ofThread.value != nil || CarriedCall.isInside }

  /// Runs `body`, which is a carried call that counts itself as one: for nobody, whoever may wait for what this
  /// thread is doing.
  static func runForNobody(_ body: () -> Void) {
    if ofThread.isSet { nobody.run(body) } else { body() }
  }

  /// Returns what waits once the current thread does; nil if that includes the queue, so that
  /// waiting for it would never end.
  static func waiting(for mark: QueueMark) -> BlockingChain? {
    let chain = BlockingChain(QueueMark.current, ofThread.value)
    var next: BlockingChain? = chain
    while let link = next {
      if link.waiting.contains(where: { $0 === mark }) { return nil }
      next = link.sender
    }
    return chain
  }

  /// Runs `body` for those who wait.
  func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    try Self.ofThread.with(self, body)
  }
}
