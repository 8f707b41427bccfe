import Forwarding
import Invocations

/// One of the answers that a spy was given: which calls it is for, and what they get, call by call.
final class SpyRule: Sendable {
  enum Step: Sendable {
    case body(Implementation)
    /// The real object, or what a spy does without an answer.
    case real
    /// As one that has no method for an optional requirement.
    case leftOut
  }

  /// nil for every call.
  let matches: SpyMatch?
  private let steps: [Step]
  let delay: Duration
  /// How many calls it answers; from then on, an older one does.
  private let limit: Int
  private let used = Guarded(0)

  init(_ matches: SpyMatch?, _ steps: [Step], delay: Duration, limit: Int) {
    (self.matches, self.steps, self.delay, self.limit) = (matches, steps, delay, limit)
  }

  /// Whether its calls find no method.
  var leavesOut: Bool {
    if case .leftOut = steps.first { return true }
    return false
  }

  /// What answers every call, where there is nothing to choose.
  var simple: Implementation? {
    guard matches == nil, steps.count == 1, limit == .max, delay == .zero,
      case .body(let method) = steps[0]
    else { return nil }
    return method
  }

  /// Takes the next step. The last one stays, unless there is a limit.
  func next() -> Step? {
    if steps.count == 1, limit == .max { return steps.first }
    return used.withLockInPlace { used in
      guard used < limit else { return nil }
      defer { used += 1 }
      return steps[min(used, steps.count - 1)]
    }
  }
}

/// Whether a call is one that somebody asks for. An error is a no.
typealias SpyMatch = @Sendable (Invocation) throws -> Bool

/// How many arguments of a call are other ones than was asked for.
typealias SpyDistance = @Sendable (Invocation) throws -> Int

/// What a spy was told about one selector: a snapshot, which calls get without a lock.
final class SpyScript: Sendable {
  struct Rejection: Sendable {
    let matches: SpyMatch?
    let text: String
    let place: SpyPlace
  }

  struct Parts: Sendable {
    /// The newest is the last, and the first to be asked.
    var rules: [SpyRule] = []
    var rejections: [Rejection] = []
    var waiters: [SpyWaiter] = []
    /// Whether a strict spy takes it without an answer.
    var isAllowed = false
  }

  let parts: Parts
  /// What answers every call, where there is nothing else to do.
  let simple: Implementation?

  init(_ parts: Parts) {
    self.parts = parts
    let isQuiet = parts.rejections.isEmpty && parts.waiters.isEmpty
    simple = isQuiet ? parts.rules.last?.simple : nil
  }
}
