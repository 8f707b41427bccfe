// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Synchronization

import Glibc

/// The nesting of forwarding steps of a task that awaits them, with the objects that forward.
///
/// A task may resume on another thread, so the notes of ``ForwardingDepth``, which are per thread,
/// do not work here.
@safe
package final class AwaitedStep: @unchecked Sendable {
  // SAFETY: `enclosing` is only touched by `withEnclosing`, under a lock, or before the step is shared.
  // `place` is set by the task that enters the step, before anything else runs inside of it. The rest
  // is constant or atomic.

  private let lock = unsafe pthread_mutex_t()

  @TaskLocal private static var innermost: AwaitedStep?

  /// The step that this task is in. A task that was started inside of a step, and is not awaited
  /// there, may outlive the step, which is then skipped.
  package static var current: AwaitedStep? { firstOpen(from: innermost) }

  /// Whether an awaited message may wait for this task: one that is inside of it, or that has such a
  /// task as its parent. The local values of another task that began there are copies.
  package static var isInside: Bool {
    guard let step = innermost, current != nil else { return false }
    return unsafe step.place == placeOfInnermost
  }

  /// Where the step of this task, or of its parent, is stored.
  private static var placeOfInnermost: UnsafeRawPointer? {
    unsafe fwd_task_value(Unmanaged.passUnretained($innermost).toOpaque())
  }

  private let object: ObjectIdentifier
  /// The number of the message; 0 for a step without a message.
  private let message: Atomic<UInt64>
  /// The number of steps that were open at the beginning of this one, or more, and this one. There
  /// are fewer outer steps, so no chain is longer than the limit.
  private let depth: Int
  @exclusivity(unchecked) private var enclosing: AwaitedStep?
  /// Where the task that entered the step stores it.
  @exclusivity(unchecked) private var place: UnsafeRawPointer?
  private let isOver = Atomic(false)
  /// The last optional requirement that a default implementation reported as left out, combined
  /// with its object in one word.
  private let leftOut = Atomic<UInt>(0)

  private init(_ object: ObjectIdentifier, _ message: UInt64, in outer: AwaitedStep?) {
    self.object = object
    self.message = Atomic(message)
    unsafe enclosing = outer
    let depth = (outer?.depth ?? 0) + 1
    self.depth = depth <= ForwardingDepth.limit ? depth : Self.unlinkEndedSteps(from: outer) + 1
  }

  /// Reads or changes the step around this one under the lock, which is found as in `Guarded`. A
  /// `Guarded` value would be an allocation for each awaited message.
  private func withEnclosing<Result>(_ body: (inout AwaitedStep?) -> Result) -> Result {
    let mutex = unsafe (Unmanaged.passUnretained(self).toOpaque() + Int(FWD_OBJECT_HEADER))
      .assumingMemoryBound(to: pthread_mutex_t.self)
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe body(&enclosing)
  }

  /// The step around this one. It may have ended.
  private var outer: AwaitedStep? { withEnclosing { $0 } }

  /// Removes the steps that have ended from the chain of an open one. A task that began before the
  /// step of its parent ended is in that step, so a chain of such tasks would grow without end.
  ///
  /// - Returns: the number of steps in the chain.
  private static func unlinkEndedSteps(from innermost: AwaitedStep?) -> Int {
    var (inner, count) = (innermost, 0)
    while let step = inner {
      count += 1
      let outer = firstOpen(from: step.outer)
      // Returned, so that the steps between are released outside of the lock.
      _ = step.withEnclosing { enclosing in
        defer { enclosing = outer }
        return enclosing
      }
      inner = outer
    }
    return count
  }

  private static func firstOpen(from innermost: AwaitedStep?) -> AwaitedStep? {
    var next = innermost
    while let step = next, step.isOver.load(ordering: .relaxed) { next = step.outer }
    return next
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
    defer { step.end() }
    return try await with(step, body)
  }

  /// Runs `body` in a step without a message, which is the innermost one of a lane's task.
  ///
  /// - Parameter sender: the step of the sender that awaits the end; nil if none does.
  package nonisolated(nonsending) static func arrive<Result>(
    through object: AnyObject, from sender: AwaitedStep?,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    let step = AwaitedStep(ObjectIdentifier(object), 0, in: sender)
    defer { step.end() }
    return try await with(step, body)
  }

  /// Runs a method of an object in a step without a message. Returns whether the object leaves out the
  /// requirement that the method stands for.
  nonisolated(nonsending) static func leavesOut(
    _ object: ObjectIdentifier, _ selector: Selector,
    _ method: nonisolated(nonsending) () async -> Void
  ) async -> Bool {
    let step = AwaitedStep(object, 0, in: current)
    defer { step.end() }
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
    unsafe step.place = placeOfInnermost
    return step
  }

  /// Ends the step, which must be the last that the task entered.
  func leave() {
    end()
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

  /// Marks the step as ended, for tasks that were started inside of it.
  func end() { isOver.store(true, ordering: .relaxed) }

  /// Runs `body` inside of a step, in the isolation of its caller. The closure captures
  /// `isolation`, because only that binds it to the caller's isolation.
  private static func with<Result>(
    _ step: AwaitedStep, isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await $innermost.withValue(step) {
      _ = isolation
      unsafe step.place = placeOfInnermost
      return try await body()
    }
  }

  /// Whether an open step forwards the message through the object.
  private static func isForwarding(
    _ message: UInt64, _ object: ObjectIdentifier, from innermost: AwaitedStep?
  ) -> Bool {
    var next = innermost
    while let step = next {
      if step.object == object, step.message.load(ordering: .relaxed) == message { return true }
      next = firstOpen(from: step.outer)
    }
    return false
  }
}
