// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A call that a face enqueues on a queue.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let later = { (call: inout QueuedCall) in
///   call.give(true) { _ in print("on the queue") }
/// }
/// ```
@_documentation(visibility: internal)
@safe
public struct QueuedCall {
  // SAFETY: a local variable of the delivering function, which holds the list and its members.
  fileprivate let turn: QueuedTurn
  private var job: QueuedJob?

  @unsafe
  init(_ turn: QueuedTurn) { unsafe self.turn = turn }

  /// Keeps a closure that calls the target.
  ///
  /// - Parameter travels: whether the values of the call can be sent to another thread as they are.
  ///   If false, nothing is enqueued.
  public mutating func give(
    _ travels: Bool, _ run: consuming @escaping (QueuedTarget) throws -> Void
  ) {
    if travels { job = unsafe QueuedJob(turn, run) }
  }

  /// Enqueues the call. Returns false if it has no closure.
  func isEnqueued(on queue: SystemQueue) -> Bool {
    guard let job else { return false }
    // Only the queue uses the closure from here on. Whether the target may be called there was
    // decided when it was added.
    unsafe queue.async(Unmanaged.passRetained(job).toOpaque()) { job in
      unsafe Unmanaged<QueuedJob>.fromOpaque(job.unsafelyUnwrapped).takeRetainedValue().arrive()
    }
    return true
  }
}

/// What a call on its way knows of its target. Witness tables are never freed.
@unsafe
struct QueuedTurn {
  let member: Unmanaged<ListedTarget>
  let table: UnsafeRawPointer
  let index: Int
  let selector: Selector
  let isOptional: Bool
}

/// A call on its way to a queue, which the queue owns.
@safe
private final class QueuedJob {
  // SAFETY: the member is in the unowned count until `deinit`.
  private let turn: QueuedTurn
  private let run: (QueuedTarget) throws -> Void

  @unsafe
  init(_ turn: QueuedTurn, _ run: consuming @escaping (QueuedTarget) throws -> Void) {
    unsafe self.turn = turn
    self.run = run
    _ = unsafe swift_unownedRetain(turn.member.toOpaque())
  }

  deinit { unsafe swift_unownedRelease(turn.member.toOpaque()) }

  /// Calls the target on the queue. Does nothing if it is removed or dead.
  func arrive() {
    // Retained to the end: a wait for the end of the registration includes this call.
    guard let member = unsafe swift_tryRetain(turn.member.toOpaque()) else { return }
    defer { unsafe swift_release(member) }
    unsafe turn.member._withUnsafeGuaranteedRef { member in
      guard !member.isRemoved else { return }
      if ThreadChains.areNone {
        call(member)
      } else {
        member.notes?.queue?.arrive { call(member) }
      }
    }
  }

  private func call(_ member: ListedTarget) {
    let thread = unsafe fwd_thread()
    if let thread = unsafe thread { unsafe thread.pointee.arrivals += 1 }
    defer { if let thread = unsafe thread { unsafe thread.pointee.arrivals -= 1 } }
    unsafe member.withAddress { object in
      let isKnown = unsafe member.witnesses?.table(at: turn.index) == UInt(bitPattern: turn.table)
      let isOptional = unsafe isKnown && turn.isOptional
      if isOptional { unsafe fwd_forget_left_out(thread) }
      do {
        try run(unsafe QueuedTarget(object: object, table: isKnown ? turn.table : nil))
        if isOptional, unsafe fwd_is_left_out(thread, object, UInt64(turn.selector.word)) != 0 {
          OptionalRequirement.note(leftOut: unsafe turn.selector, by: member.type)
        }
      } catch {
        member.notes?.queue?.report(error, of: unsafe turn.selector, by: member)
      }
    }
  }
}

/// A target that a queue is about to call.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let describe = { (target: QueuedTarget) in
///   try target.call { (target: borrowing FaceTarget<any CustomStringConvertible & AnyObject>) in
///     print(target.value.description)
///   } orSend: { _ in
///   }
/// }
/// ```
@_documentation(visibility: internal)
@safe
@frozen
public struct QueuedTarget {
  // SAFETY: lent by the arriving call, which retains the object. Witness tables are never freed.
  @usableFromInline let object: UnsafeMutableRawPointer
  /// The table of the requirement; nil if its method has been replaced meanwhile.
  @usableFromInline let table: UnsafeRawPointer?

  @unsafe
  init(object: UnsafeMutableRawPointer, table: UnsafeRawPointer?) {
    unsafe self.object = object
    unsafe self.table = table
  }

  /// Calls the requirement, on the queue. If its method has been replaced meanwhile, `send` sends
  /// the message.
  @inlinable
  public func call<Target>(
    _ body: (borrowing FaceTarget<Target>) throws -> Void,
    orSend send: (inout FaceDelivery) throws -> Void?
  ) throws {
    guard let table = unsafe table else { return try sendAlone(send) }
    try unsafe _withUnprotectedUnsafePointer(to: (object, table)) { words in
      // SAFETY: a value of a protocol for objects is the object and the table.
      try body(
        unsafe UnsafeRawPointer(words).assumingMemoryBound(to: FaceTarget<Target>.self).pointee)
    }
  }

  @usableFromInline
  @inline(never)
  func sendAlone(_ send: (inout FaceDelivery) throws -> Void?) throws {
    var delivery = unsafe FaceDelivery(
      to: Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue())
    _ = try send(&delivery)
  }
}
