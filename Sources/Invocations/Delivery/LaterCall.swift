// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A call that a proxy sends to a lane.
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
  private let turn: LaterCall.Turn
  private(set) var call: LaterCall?

  @unsafe
  init(_ turn: LaterCall.Turn) { unsafe self.turn = turn }

  /// Keeps a closure that calls the target.
  ///
  /// - Parameter travels: whether the values of the call can be sent to another thread as they are.
  ///   If false, nothing is sent.
  public mutating func give(
    _ travels: Bool, _ run: consuming @escaping (QueuedTarget) throws -> Void
  ) {
    if travels { call = unsafe LaterCall(turn, run) }
  }
}

/// A call of a requirement that is carried to a lane: a closure over its target. It retains neither
/// the target nor the registration.
@safe
package final class LaterCall: @unchecked Sendable {
  // SAFETY: the one thread that it arrives on uses it. Whether the target may be called there was
  // decided when it was added. The member is in the unowned count until `deinit`.

  /// What the call knows of its target. Witness tables are never freed.
  @unsafe
  struct Turn {
    let member: Unmanaged<ListedTarget>
    let table: UnsafeRawPointer
    let index: Int
    let selector: Selector
    let isOptional: Bool
  }

  private let turn: Turn
  private let run: (QueuedTarget) throws -> Void

  @unsafe
  init(_ turn: Turn, _ run: consuming @escaping (QueuedTarget) throws -> Void) {
    unsafe self.turn = turn
    self.run = run
    _ = unsafe swift_unownedRetain(turn.member.toOpaque())
  }

  deinit { unsafe swift_unownedRelease(turn.member.toOpaque()) }

  package var selector: Selector { unsafe turn.selector }

  /// Enqueues the call on a queue, after the work that was enqueued before.
  func travel(on queue: SystemQueue) {
    unsafe queue.async(Unmanaged.passRetained(self).toOpaque()) { call in
      unsafe Unmanaged<LaterCall>.fromOpaque(call.unsafelyUnwrapped).takeRetainedValue().arrive()
    }
  }

  private func arrive() {
    unsafe ListedTarget.arrive(at: turn.member.toOpaque(), selector) { object, member in
      _ = try unsafe isAnswered(by: object, of: member)
    }
  }

  /// Calls an object. Returns false if its class leaves the requirement out.
  package func isAnswered(by object: AnyObject, of member: ListedTarget) throws -> Bool {
    try withExtendedLifetime(object) {
      try unsafe isAnswered(by: Unmanaged.passUnretained(object).toOpaque(), of: member)
    }
  }

  @unsafe
  private func isAnswered(
    by object: UnsafeMutableRawPointer, of member: ListedTarget
  ) throws -> Bool {
    let isKnown = unsafe member.witnesses?.table(at: turn.index) == UInt(bitPattern: turn.table)
    let optional = unsafe isKnown && turn.isOptional ? turn.selector : nil
    return try unsafe member.isAnswered(object, optional) {
      try run(unsafe QueuedTarget(object: object, table: isKnown ? turn.table : nil))
    }
  }
}

/// A target that a lane is about to call.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let describe = { (target: QueuedTarget) in
///   try target.call { (target: borrowing ProxyTarget<any CustomStringConvertible & AnyObject>) in
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

  /// Calls the requirement, on the lane. If its method has been replaced meanwhile, `send` sends
  /// the message.
  @inlinable
  public func call<Target>(
    _ body: (borrowing ProxyTarget<Target>) throws -> Void,
    orSend send: (inout ProxyDelivery) throws -> Void?
  ) throws {
    guard let table = unsafe table else { return try sendAlone(send) }
    try unsafe _withUnprotectedUnsafePointer(to: (object, table)) { words in
      // SAFETY: a value of a protocol for objects is the object and the table.
      try body(
        unsafe UnsafeRawPointer(words).assumingMemoryBound(to: ProxyTarget<Target>.self).pointee)
    }
  }

  @usableFromInline
  @inline(never)
  func sendAlone(_ send: (inout ProxyDelivery) throws -> Void?) throws {
    var delivery = unsafe ProxyDelivery(
      to: Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue())
    _ = try send(&delivery)
  }
}
