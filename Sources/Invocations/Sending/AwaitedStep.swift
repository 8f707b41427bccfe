// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Synchronization

/// The nesting of forwarding steps of a task that awaits them, with the objects that forward.
///
/// A task may resume on another thread, so the notes of ``ForwardingDepth``, which are per thread,
/// do not work here.
package final class AwaitedStep: Sendable {
  @TaskLocal private static var innermost: AwaitedStep?

  /// The step that this task or its parent is in. Another task that was started inside of a step may
  /// outlive it, so it is in none: its local values are copies.
  package static var current: AwaitedStep? {
    guard let step = innermost, step.place.load(ordering: .relaxed) == placeOfInnermost else {
      return nil
    }
    return step
  }

  /// Where the step of this task, or of its parent, is stored.
  private static var placeOfInnermost: UInt {
    unsafe UInt(bitPattern: fwd_task_value(Unmanaged.passUnretained($innermost).toOpaque()))
  }

  private let object: ObjectIdentifier
  /// The number of the message; 0 for a step without a message.
  private let message: Atomic<UInt64>
  private let outer: AwaitedStep?
  /// The number of outer steps, and this one.
  private let depth: Int
  /// Where the task that entered the step stores it; 0 once it has left.
  private let place = Atomic<UInt>(0)
  /// The last optional requirement that a default implementation reported as left out, combined
  /// with its object in one word.
  private let leftOut = Atomic<UInt>(0)

  private init(_ object: ObjectIdentifier, _ message: UInt64, in outer: AwaitedStep?) {
    self.object = object
    self.message = Atomic(message)
    self.outer = outer
    depth = (outer?.depth ?? 0) + 1
  }

  /// Runs `body` inside of a forwarding step.
  ///
  /// - Parameter type: the class that an error names.
  /// - Throws: `forwardingCycle` if the same message passes the same object again;
  ///   `forwardedTooDeeply` at the limit; or the error of `body`.
  package nonisolated(nonsending) static func take<Result>(
    through object: AnyObject, _ call: Call, _ selector: Selector, for type: AnyClass,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    let identity = ObjectIdentifier(object)
    let outer = current
    let step = AwaitedStep(identity, call.message, in: outer)
    if unsafe isForwarding(call.message, identity, from: outer)
      || call.hasPassed(Unmanaged.passUnretained(object).toOpaque())
    {
      throw InvocationError.forwardingCycle(selector, type: SwiftType(type))
    }
    guard step.isShallow else {
      throw InvocationError.forwardedTooDeeply(selector, limit: ForwardingDepth.limit)
    }
    return try await with(step, body)
  }

  /// Runs `body` in a step without a message, which is the innermost one of a lane's task.
  ///
  /// - Parameter sender: the step of the sender that awaits the end; nil if none does.
  package nonisolated(nonsending) static func arrive<Result>(
    through object: AnyObject, from sender: AwaitedStep?,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await with(AwaitedStep(ObjectIdentifier(object), 0, in: sender), body)
  }

  /// Runs a method of an object in a step without a message. Returns whether the object leaves out the
  /// requirement that the method stands for.
  nonisolated(nonsending) static func leavesOut(
    _ object: ObjectIdentifier, _ selector: Selector,
    _ method: nonisolated(nonsending) () async -> Void
  ) async -> Bool {
    let step = AwaitedStep(object, 0, in: current)
    await with(step, method)
    return step.takeLeftOut(object, selector)
  }

  /// Moves the current task into a step without a message. Returns nil at the limit.
  static func enter(through object: ObjectIdentifier) -> AwaitedStep? {
    let step = AwaitedStep(object, 0, in: current)
    guard step.isShallow else { return nil }
    var value: AwaitedStep? = step
    let key = unsafe Unmanaged.passUnretained($innermost).toOpaque()
    let type = unsafe unsafeBitCast((AwaitedStep?).self as Any.Type, to: UnsafeRawPointer.self)
    // SAFETY: works like `withValue`. The value is moved out of the variable, and `leave` destroys
    // it. A delivery only calls one method after the other in between, so the task has freed its
    // later allocations before `leave`.
    unsafe withUnsafeMutablePointer(to: &value) { value in
      unsafe fwd_task_push(key, value, type)
      unsafe value.initialize(to: nil)
    }
    step.place.store(placeOfInnermost, ordering: .relaxed)
    return step
  }

  /// Ends the step, which must be the last that the task entered.
  func leave() {
    place.store(0, ordering: .relaxed)
    fwd_task_pop()
  }

  /// Whether the nesting is within the limit.
  var isShallow: Bool { depth <= ForwardingDepth.limit }

  /// Records in the current step that an object leaves out an optional requirement.
  static func noteLeftOut(_ object: ObjectIdentifier, _ selector: Selector) {
    innermost?.leftOut.store(word(object, selector), ordering: .relaxed)
  }

  /// Whether the requirement was recorded as left out in this step. Clears the record.
  func takeLeftOut(_ object: ObjectIdentifier, _ selector: Selector) -> Bool {
    leftOut.exchange(0, ordering: .relaxed) == Self.word(object, selector)
  }

  /// Whether the requirement was recorded as left out in the current step of this task.
  static func isLeftOut(_ object: ObjectIdentifier, _ selector: Selector) -> Bool {
    innermost?.leftOut.load(ordering: .relaxed) == word(object, selector)
  }

  /// Combines an object and a selector in one word. Two pairs collide with a probability of 1 in
  /// 2^64. A collision would make one call treat a requirement as left out.
  private static func word(_ object: ObjectIdentifier, _ selector: Selector) -> UInt {
    UInt(bitPattern: object) ^ (UInt(selector.word) &* 0x9E37_79B9_7F4A_7C15)
  }

  /// Makes the step stand for a message that is sent inside of it.
  func standsFor(_ message: UInt64) { self.message.store(message, ordering: .relaxed) }

  /// Runs `body` inside of a step, in the isolation of its caller. The closure captures
  /// `isolation`, because only that binds it to the caller's isolation.
  private static func with<Result>(
    _ step: AwaitedStep, isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await $innermost.withValue(step) {
      _ = isolation
      step.place.store(placeOfInnermost, ordering: .relaxed)
      defer { step.place.store(0, ordering: .relaxed) }
      return try await body()
    }
  }

  /// Whether a step forwards the message through the object.
  private static func isForwarding(
    _ message: UInt64, _ object: ObjectIdentifier, from innermost: AwaitedStep?
  ) -> Bool {
    var next = innermost
    while let step = next {
      if step.object == object, step.message.load(ordering: .relaxed) == message { return true }
      next = step.outer
    }
    return false
  }
}
