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
  private let message: UInt64
  private let depth: Int
  private let outer: AwaitedStep?
  private let isOver = Atomic(false)

  private init(_ object: ObjectIdentifier, _ message: UInt64, in outer: AwaitedStep?) {
    self.object = object
    self.message = message
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
    if step.isRepeated || call.hasPassed(identity) {
      throw InvocationError.forwardingCycle(selector, type: SwiftType(type))
    }
    guard step.depth <= ForwardingDepth.limit else {
      throw InvocationError.forwardedTooDeeply(selector, limit: ForwardingDepth.limit)
    }
    defer { step.isOver.store(true, ordering: .relaxed) }
    return try await with(step, body)
  }

  /// Takes a step for what is no message; throws at the limit.
  package nonisolated(nonsending) static func take<Result>(
    through object: AnyObject, _ selector: Selector, for type: AnyClass,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    let step = AwaitedStep(ObjectIdentifier(object), 0, in: current)
    guard step.depth <= ForwardingDepth.limit else {
      throw InvocationError.forwardedTooDeeply(selector, limit: ForwardingDepth.limit)
    }
    defer { step.isOver.store(true, ordering: .relaxed) }
    return try await with(step, body)
  }

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
  private var isRepeated: Bool {
    var next = outer
    while let step = next {
      if step.object == object, step.message == message { return true }
      next = step.outer
    }
    return false
  }
}
