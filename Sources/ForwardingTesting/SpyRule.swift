// SPDX-License-Identifier: Apache-2.0
import Forwarding
public import Invocations

/// One configured answer: the calls that it is for, and what each of them gets.
@usableFromInline
final class SpyRule: Sendable {
  @usableFromInline
  enum Step: Sendable {
    case body(Implementation)
    /// Forwards to the real object; without one, the call has no answer.
    case real
    /// Acts as a class without a method for an optional requirement.
    case leftOut
  }

  /// Nil for every call.
  let matches: SpyMatch?
  private let steps: [Step]
  /// The number of calls that it answers. After that, an older rule is used.
  private let limit: Int
  private let used = Guarded(0)

  init(_ matches: SpyMatch?, _ steps: [Step], limit: Int) {
    (self.matches, self.steps, self.limit) = (matches, steps, limit)
  }

  /// Whether its calls find no method.
  var leavesOut: Bool { if case .leftOut = steps.first { true } else { false } }

  /// Returns the next step. The last one is repeated, unless there is a limit.
  func next() -> Step? {
    if steps.count == 1, limit == .max { return steps.first }
    return used.withLockInPlace { used in
      guard used < limit else { return nil }
      defer { used += 1 }
      return steps[min(used, steps.count - 1)]
    }
  }
}

/// Whether a call matches. A thrown error counts as false.
typealias SpyMatch = @Sendable (Invocation) throws -> Bool

/// The configuration of one selector: an immutable snapshot, which calls read without a lock.
final class SpyScript: Sendable {
  struct Rejection: Sendable {
    let calls: SpiedStep
    let place: SpyPlace
  }

  struct Parts: Sendable {
    /// The rules; the last one is the newest and is tried first.
    var rules: [SpyRule] = []
    var rejections: [Rejection] = []
  }

  let selector: Selector
  let parts: Parts

  init(_ selector: Selector, _ parts: Parts) { (self.selector, self.parts) = (selector, parts) }
}
