// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A call that a proxy sends to a lane: a closure over its target.
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
public struct QueuedCall: @unchecked Sendable {
  // SAFETY: the one thread that it arrives on uses it. Whether the target may be called there was
  // decided when it was added. Witness tables are never freed.

  package let selector: Selector
  /// The table of the requirement, and its place among those of the target; nil for messages.
  private let table: UnsafeRawPointer?
  private let index: Int
  private let isOptional: Bool
  private var run: ((QueuedTarget) throws -> Void)?
  /// The message that is sent, a copy that is not shared; nil for other calls.
  package let message: Invocation?
  /// Whether the method is `async`, or may be.
  package let suspends: Bool

  /// A call of a requirement, which needs to be given its closure.
  @unsafe
  init(_ selector: Selector, _ table: UnsafeRawPointer, at index: Int, isOptional: Bool) {
    self.selector = selector
    unsafe self.table = table
    self.index = index
    self.isOptional = isOptional
    message = nil
    suspends = false
  }

  /// A call that sends a message. The selector is read once: the target may change the invocation.
  package init(_ selector: Selector, sending message: Invocation, suspends: Bool) {
    self.selector = selector
    unsafe table = nil
    (index, isOptional) = (0, false)
    run = { target in try message.send(to: target.reference) }
    self.message = message
    self.suspends = suspends
  }

  /// Keeps a closure that calls the target.
  ///
  /// - Parameter travels: whether the values of the call can be sent to another thread as they are.
  ///   If false, nothing is sent.
  public mutating func give(
    _ travels: Bool, _ run: consuming @escaping (QueuedTarget) throws -> Void
  ) {
    if travels { self.run = run }
  }

  /// Whether the call can be made; false if a message is needed.
  var isGiven: Bool { run != nil }

  /// Calls an object. Returns false if its class leaves the requirement out.
  package func isAnswered(by object: AnyObject, of member: ListedTarget) throws -> Bool {
    try withExtendedLifetime(object) {
      let address = unsafe Unmanaged.passUnretained(object).toOpaque()
      // The method of a requirement may have been replaced meanwhile.
      let isSame = unsafe member.witnesses?.table(at: index) == UInt(bitPattern: table)
      let table = unsafe isSame ? table : nil
      let optional = unsafe isOptional && table != nil ? selector : nil
      return try unsafe member.isAnswered(address, optional) {
        try run?(unsafe QueuedTarget(object: address, table: table))
      }
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
