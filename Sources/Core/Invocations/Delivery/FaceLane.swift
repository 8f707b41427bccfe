// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
package import Dispatch

/// The queue on which a face calls a target.
@safe
struct FaceLane {
  // SAFETY: used while the delivery holds the list, which retains the member. The member retains its
  // queue.
  private let member: Unmanaged<ListedTarget>
  private let queue: any TargetQueue
  private let table: UnsafeRawPointer
  private let index: Int
  /// Whether the sender waits for the queue.
  let waits: Bool

  /// Looks up the lane of a member. Returns nil if the face does not call it, or if it needs more
  /// than a queue.
  @unsafe
  init?(_ place: UnsafePointer<UnsafeRawPointer>, _ targets: FaceTargets, _ index: Int) {
    guard let table = unsafe fwd_direct_table(place, targets.face, index) else { return nil }
    unsafe member = .fromOpaque(place.pointee)
    switch unsafe member._withUnsafeGuaranteedRef({ $0.way }) {
    case .queued: waits = false
    case .awaited: waits = true
    case .called, .special: return nil
    }
    guard let queue = unsafe member._withUnsafeGuaranteedRef({ $0.notes?.queue }) else {
      return nil
    }
    self.queue = queue
    unsafe self.table = table
    self.index = index
  }

  /// Calls a target on its queue, and waits.
  ///
  /// - Parameters:
  ///   - optional: the selector, if the requirement is optional.
  ///   - body: gets the address of a value of a class-bound protocol.
  /// - Returns: `over` if the target leaves out the requirement, `message` if it is dead: a message
  ///   records that.
  /// - Throws: the error of `body`, or of a wait that would never end.
  func callWaiting(
    _ optional: Selector?, _ body: (UnsafeRawPointer) throws -> Void
  ) throws -> QueueTurn {
    var turn = QueueTurn.message
    try unsafe member._withUnsafeGuaranteedRef { member in
      try unsafe member.withAddress { object in
        turn = .answered
        try queue.wait(for: member) {
          let thread = unsafe fwd_thread()
          if let thread = unsafe thread { unsafe thread.pointee.arrivals += 1 }
          defer { if let thread = unsafe thread { unsafe thread.pointee.arrivals -= 1 } }
          if optional != nil { unsafe fwd_forget_left_out(thread) }
          func isLeftOut() -> Bool {
            guard let optional else { return false }
            return unsafe fwd_is_left_out(thread, object, UInt64(optional.word)) != 0
          }
          do {
            try unsafe _withUnprotectedUnsafePointer(to: (object, table)) { words in
              try unsafe body(UnsafeRawPointer(words))
            }
            if isLeftOut() { turn = .over }
          } catch {
            // A default implementation without a value to return throws.
            guard isLeftOut() else { throw error }
            turn = .over
          }
        }
      }
    }
    return turn
  }

  /// Enqueues a call of the target. Returns false if a message is needed instead.
  func isGiven(
    _ later: (inout QueuedCall) -> Void, _ selector: Selector, isOptional: Bool
  ) -> Bool {
    unsafe member._withUnsafeGuaranteedRef { member in
      // A message finds out without the queue that a class leaves out the requirement, and records
      // the death of the target.
      guard !isOptional || isKnown(selector, member.type), member.isAlive else { return false }
      var call = QueuedCall(
        target: unsafe QueuedTarget(queue, table, index, selector, isOptional: isOptional),
        queue: queue.reached(for: member))
      later(&call)
      return call.isGiven
    }
  }

  /// Whether an earlier message has found the class's method.
  private func isKnown(_ selector: Selector, _ type: AnyClass) -> Bool {
    guard let thread = unsafe fwd_thread(),
      let method = unsafe fwd_method_hold(
        thread, UInt(bitPattern: ObjectIdentifier(type)), selector.word)
    else { return false }
    defer { unsafe fwd_let_go(thread) }
    return unsafe method.pointee.implementation != nil
  }
}

/// The outcome of a turn on a queue.
@usableFromInline
enum QueueTurn {
  /// The target answered.
  case answered
  /// The call was enqueued.
  case queued
  /// The target threw, or left out the requirement.
  case over
  /// The target needs a message.
  case message
}

/// A call that a face enqueues on a queue.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let later = { (call: inout QueuedCall) in
///   call.give(true) { _ in { print("on the queue") } }
/// }
/// ```
@_documentation(visibility: internal)
public struct QueuedCall {
  fileprivate let target: QueuedTarget
  fileprivate let queue: DispatchQueue
  fileprivate var isGiven = false

  /// Enqueues the closure that `make` makes for the target.
  ///
  /// - Parameter travels: whether the values of the call can be sent to another thread as they are.
  ///   If false, nothing is enqueued.
  public mutating func give(_ travels: Bool, _ make: (QueuedTarget) -> () -> Void) {
    guard travels else { return }
    // SAFETY: only the queue uses the closure from here on. Whether the target may be called there
    // was decided when it was added. The closure is cast inside of a structure, because casting the
    // closure alone would wrap it in two others.
    let job = unsafe unsafeBitCast(Job(run: make(target)), to: SendableJob.self)
    queue.async(execute: job.run)
    isGiven = true
  }

  private struct Job { let run: () -> Void }
  private struct SendableJob { let run: @Sendable () -> Void }
}

/// The queue of a target. Calls that a face enqueues do not retain the target.
package protocol TargetQueue: AnyObject, Sendable {
  /// The queue, for a call of `member`, the target that this object belongs to.
  func reached(for member: ListedTarget) -> DispatchQueue
  /// Runs `body` on the queue, for a call of `member`, and waits. Throws if the wait would never end.
  func wait(for member: ListedTarget, _ body: () throws -> Void) throws
  /// Runs `body` with the member, if it is still there, and reports its errors.
  func arrive(_ selector: Selector, _ body: (ListedTarget) throws -> Void)
}

/// A target that a queue is about to call.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let describe = { (target: QueuedTarget) in
///   target.call { (target: borrowing FaceTarget<any CustomStringConvertible & AnyObject>) in
///     print(target.value.description)
///   } orSend: { _ in
///   }
/// }
/// ```
@_documentation(visibility: internal)
@safe
public struct QueuedTarget {
  // SAFETY: witness tables are never freed.
  private let route: any TargetQueue
  private let table: UnsafeRawPointer
  private let index: Int
  private let selector: Selector
  private let isOptional: Bool

  @unsafe
  init(
    _ route: any TargetQueue, _ table: UnsafeRawPointer, _ index: Int, _ selector: Selector,
    isOptional: Bool
  ) {
    self.route = route
    unsafe self.table = table
    self.index = index
    self.selector = selector
    self.isOptional = isOptional
  }

  /// Calls the requirement, on the queue. If its method has been replaced meanwhile, `send` sends
  /// the message.
  public func call<Target>(
    _ body: (borrowing FaceTarget<Target>) throws -> Void,
    orSend send: (inout FaceDelivery) throws -> Void
  ) {
    route.arrive(selector) { member in
      try unsafe member.runAsArrival { object in
        guard unsafe member.witnesses?.table(at: index) == UInt(bitPattern: table) else {
          return try unsafe Self.send(send, to: object)
        }
        let thread = unsafe fwd_thread()
        if isOptional { unsafe fwd_forget_left_out(thread) }
        try unsafe withUnsafeBytes(of: (object, table)) { words in
          // SAFETY: a value of a protocol for objects is the object and the table.
          try unsafe body(
            words.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: FaceTarget<Target>.self)
              .pointee)
        }
        if isOptional, unsafe fwd_is_left_out(thread, object, UInt64(selector.word)) != 0 {
          OptionalRequirement.note(leftOut: selector, by: member.type)
        }
      }
    }
  }

  @unsafe
  @inline(never)
  private static func send(
    _ send: (inout FaceDelivery) throws -> Void, to object: UnsafeMutableRawPointer
  ) throws {
    var delivery = unsafe FaceDelivery(
      to: Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue())
    try send(&delivery)
  }
}

extension ListedTarget {
  /// Runs `body` with the address of the target, as a message that was carried to this thread. Does
  /// nothing if the target is removed or dead.
  @unsafe
  fileprivate func runAsArrival(_ body: (UnsafeMutableRawPointer) throws -> Void) rethrows {
    if isRemoved { return }
    let thread = unsafe fwd_thread()
    if let thread = unsafe thread { unsafe thread.pointee.arrivals += 1 }
    defer { if let thread = unsafe thread { unsafe thread.pointee.arrivals -= 1 } }
    try unsafe withAddress(body)
  }
}
