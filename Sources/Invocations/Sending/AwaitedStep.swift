import CForwardingShims
import Synchronization

/// How deep a task is in forwarding messages that it awaits, and through which objects.
///
/// What ``ForwardingDepth`` notes on a thread is of no use here: a task goes on on another one.
package final class AwaitedStep: Sendable {
  @TaskLocal private static var innermost: AwaitedStep?

  /// The step that this task is inside of. A task that was begun inside of a step, and that nobody awaits there,
  /// may find it over.
  package static var current: AwaitedStep? {
    var next = innermost
    while let step = next, step.isOver.load(ordering: .relaxed) { next = step.outer }
    return next
  }

  /// Whether this task is inside of a message that somebody awaits.
  package static var isInside: Bool { current != nil }

  private let object: ObjectIdentifier
  /// 0 for what is no message yet.
  private let message: Atomic<UInt64>
  private let depth: Int
  private let outer: AwaitedStep?
  private let isOver = Atomic(false)
  /// The object and the optional requirement that a default implementation has named last, in one word.
  private let leftOut = Atomic<UInt>(0)

  private init(_ object: ObjectIdentifier, _ message: UInt64, in outer: AwaitedStep?) {
    self.object = object
    self.message = Atomic(message)
    self.outer = outer
    depth = (outer?.depth ?? 0) + 1
  }

  /// Takes a step; throws if the same message passes through the same object again, or at the limit.
  ///
  /// - Parameter type: the class that an error names.
  package nonisolated(nonsending) static func take<Result>(
    through object: AnyObject, _ call: Call, _ selector: Selector, for type: AnyClass,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    let identity = ObjectIdentifier(object)
    let step = AwaitedStep(identity, call.message, in: current)
    if step.isRepeated(call.message) || call.hasPassed(identity) {
      throw InvocationError.forwardingCycle(selector, type: SwiftType(type))
    }
    guard step.isShallow else {
      throw InvocationError.forwardedTooDeeply(selector, limit: ForwardingDepth.limit)
    }
    defer { step.end() }
    return try await with(step, body)
  }

  /// Takes the current task into a step that is no message yet; nil at the limit.
  static func enter(through object: ObjectIdentifier) -> AwaitedStep? {
    let step = AwaitedStep(object, 0, in: current)
    guard step.isShallow else { return nil }
    var value: AwaitedStep? = step
    let key = unsafe Unmanaged.passUnretained($innermost).toOpaque()
    let type = unsafe unsafeBitCast((AwaitedStep?).self as Any.Type, to: UnsafeRawPointer.self)
    // SAFETY: as `withValue` does. The value is moved out of the variable, and `leave` ends it. In between a delivery
    // has nothing but one method after the other, so the task has given back what it allocated.
    unsafe withUnsafeMutablePointer(to: &value) { value in
      unsafe fwd_task_push(key, value, type)
      unsafe value.initialize(to: nil)
    }
    return step
  }

  /// Takes the task out of the step, which it entered last.
  func leave() {
    end()
    fwd_task_pop()
  }

  /// Whether the task may go so deep.
  var isShallow: Bool { depth <= ForwardingDepth.limit }

  /// Notes inside of a step that an object leaves out an optional requirement.
  static func noteLeftOut(_ object: ObjectIdentifier, _ selector: Selector) {
    innermost?.leftOut.store(word(object, selector), ordering: .relaxed)
  }

  /// Whether that was noted inside of this step, and forgets it.
  func takeLeftOut(_ object: ObjectIdentifier, _ selector: Selector) -> Bool {
    leftOut.exchange(0, ordering: .relaxed) == Self.word(object, selector)
  }

  /// Whether that was noted in the step that this task is inside of.
  static func isLeftOut(_ object: ObjectIdentifier, _ selector: Selector) -> Bool {
    innermost?.leftOut.load(ordering: .relaxed) == word(object, selector)
  }

  /// Two pairs of an object and a selector share a word only by chance, one in 2^64. The word is compared with that of
  /// one call, so that would take a requirement for left out.
  private static func word(_ object: ObjectIdentifier, _ selector: Selector) -> UInt {
    UInt(bitPattern: object) ^ (UInt(selector.word) &* 0x9E37_79B9_7F4A_7C15)
  }

  /// Lets a step stand for a message that is sent from inside of it.
  func standsFor(_ message: UInt64) { self.message.store(message, ordering: .relaxed) }

  /// Notes that the step is over, for tasks that were begun inside of it.
  func end() { isOver.store(true, ordering: .relaxed) }

  /// Runs `body` inside of steps, where its caller runs: a closure is only bound to that by a parameter that
  /// it captures.
  package static func with<Result>(
    _ step: AwaitedStep?, isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await $innermost.withValue(step) {
      _ = isolation
      return try await body()
    }
  }

  /// Whether the message is on its way through the object already.
  private func isRepeated(_ message: UInt64) -> Bool {
    var next = outer
    while let step = next {
      if step.object == object, step.message.load(ordering: .relaxed) == message { return true }
      next = step.outer
    }
    return false
  }
}
