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
  // SAFETY: witness tables are never freed.
  private let requirement: LaterCall.Requirement
  fileprivate var call: LaterCall?

  @unsafe
  init(_ requirement: LaterCall.Requirement) { unsafe self.requirement = requirement }

  /// Keeps a closure that calls the target.
  ///
  /// - Parameter travels: whether the values of the call can be sent to another thread as they are.
  ///   If false, nothing is sent.
  public mutating func give(
    _ travels: Bool, _ run: consuming @escaping (QueuedTarget) throws -> Void
  ) {
    if travels { call = unsafe LaterCall(requirement, run) }
  }

  /// Moves the call out; nil if a message is needed.
  mutating func take() -> LaterCall? { call.take() }
}

/// A call that is made on a lane: a closure over its target.
@safe
package struct LaterCall: @unchecked Sendable {
  // SAFETY: the one thread that it arrives on uses it. Whether the target may be called there was
  // decided when it was added. Witness tables are never freed.

  /// What the call knows of a requirement.
  @unsafe
  struct Requirement {
    let table: UnsafeRawPointer
    let index: Int
    let selector: Selector
    let isOptional: Bool
  }

  package let selector: Selector
  /// The requirement; nil for messages.
  private let requirement: Requirement?
  private let run: (QueuedTarget) throws -> Void
  /// The message that is sent, a copy that is not shared; nil for other calls.
  package let message: Invocation?
  /// Whether the method is `async`, or may be.
  package let suspends: Bool

  @unsafe
  fileprivate init(
    _ requirement: Requirement, _ run: consuming @escaping (QueuedTarget) throws -> Void
  ) {
    selector = unsafe requirement.selector
    unsafe self.requirement = requirement
    self.run = run
    message = nil
    suspends = false
  }

  /// A call that sends a message. The selector is read once: the target may change the invocation.
  package init(_ selector: Selector, sending message: Invocation, suspends: Bool) {
    self.selector = selector
    unsafe requirement = nil
    run = { target in try message.send(to: target.reference) }
    self.message = message
    self.suspends = suspends
  }

  /// Calls an object. Returns false if its class leaves the requirement out.
  package func isAnswered(by object: AnyObject, of member: ListedTarget) throws -> Bool {
    try withExtendedLifetime(object) {
      let address = unsafe Unmanaged.passUnretained(object).toOpaque()
      let (table, optional) = unsafe place(in: member)
      return try unsafe member.isAnswered(address, optional) {
        try run(unsafe QueuedTarget(object: address, table: table))
      }
    }
  }

  /// The table of the requirement, and its selector if it is optional; nil if its method has been
  /// replaced meanwhile.
  @unsafe
  private func place(in member: ListedTarget) -> (UnsafeRawPointer?, optional: Selector?) {
    guard let requirement = unsafe requirement,
      unsafe member.witnesses?.table(at: requirement.index) == UInt(bitPattern: requirement.table)
    else { return (nil, nil) }
    return unsafe (requirement.table, requirement.isOptional ? selector : nil)
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

  var reference: AnyObject { unsafe Unmanaged.fromOpaque(object).takeUnretainedValue() }

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
    var delivery = ProxyDelivery(to: reference)
    _ = try send(&delivery)
  }
}
