import Dispatch

/// Knows whether the current thread works for a queue, directly or through queues that target it.
final class QueueMark: Sendable {
  private static let innermost = DispatchSpecificKey<QueueMark>()
  private static let all = Guarded(Known())

  /// All marks, to be asked one by one; `version` counts how often that changed.
  private struct Known {
    var marks: [Weak] = []
    var version = 0
  }

  private struct Weak { weak var mark: QueueMark? }

  /// Each queue has a key of its own: a value for a common key is hidden by that of a queue in front.
  private let key = DispatchSpecificKey<Bool>()
  /// A global queue runs any number of blocks at a time, so nothing waits for its end.
  private let isGlobal: Bool
  /// The marks of the queues behind this one, as of a version of all marks.
  private let behind = Guarded<(version: Int, marks: [QueueMark])>((version: -1, marks: []))

  /// The proxies whose deliveries wait for this queue, and those whose deliveries this queue waits
  /// for. A proxy counts once for each wait.
  private let waits = Guarded(Waits())

  private struct Waits {
    var outside: [ObjectIdentifier] = []
    var inside: [ObjectIdentifier] = []
  }

  private init(isGlobal: Bool) { self.isGlobal = isGlobal }

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
    all.withLock { all in
      if let known = queue.getSpecific(key: innermost) { return known }
      let made = QueueMark(isGlobal: isGlobal)
      queue.setSpecific(key: innermost, value: made)
      queue.setSpecific(key: made.key, value: true)
      all.marks.removeAll { $0.mark == nil }
      all.marks.append(Weak(mark: made))
      all.version += 1
      return made
    }
  }

  /// Whether the current thread is inside of this queue.
  var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }

  /// Runs `body`, in which a delivery of a proxy waits for this queue; nil if a block of the queue waits
  /// for the deliveries of that proxy.
  func outside<Result>(of proxy: AnyObject, _ body: () throws -> Result) rethrows -> Result? {
    try wait(\.outside, unless: \.inside, ObjectIdentifier(proxy), body)
  }

  /// Whether a delivery waits for this queue; for tests.
  var isWaitedFor: Bool { waits.read { !$0.outside.isEmpty } }

  /// Runs `body`, which waits in this queue for the deliveries of a proxy; nil if one of them waits for
  /// the queue.
  func inside<Result>(of proxy: AnyObject, _ body: () throws -> Result) rethrows -> Result? {
    try wait(\.inside, unless: \.outside, ObjectIdentifier(proxy), body)
  }

  private func wait<Result>(
    _ own: WritableKeyPath<Waits, [ObjectIdentifier]>,
    unless other: KeyPath<Waits, [ObjectIdentifier]>, _ proxy: ObjectIdentifier,
    _ body: () throws -> Result
  ) rethrows -> Result? {
    if isGlobal { return try body() }
    let isFree = waits.withLock { waits in
      if waits[keyPath: other].contains(proxy) { return false }
      waits[keyPath: own].append(proxy)
      return true
    }
    guard isFree else { return nil }
    defer {
      waits.withLock { waits in
        if let index = waits[keyPath: own].lastIndex(of: proxy) {
          waits[keyPath: own].remove(at: index)
        }
      }
    }
    return try body()
  }

  /// The marked queues that the current thread is inside of, without global ones.
  static var current: [QueueMark] {
    guard let mark = DispatchQueue.getSpecific(key: innermost) else { return [] }
    let (version, candidates) = all.read { all in (all.version, all.marks) }
    let known = mark.behind.read { $0.version == version ? $0.marks : nil }
    if let known { return mark.isGlobal ? [] : [mark] + known }
    let behind = candidates.compactMap(\.mark).filter {
      $0 !== mark && !$0.isGlobal && $0.isCurrent
    }
    mark.behind.withLock { $0 = (version, behind) }
    return mark.isGlobal ? [] : [mark] + behind
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

  /// Whether the current thread is running a message that another queue, actor or executor was
  /// given.
  static var isInside: Bool { ofThread.value != nil }

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
