// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The queue on which a face calls a target.
@safe
struct FaceLane {
  // SAFETY: used while the delivery holds the list, which retains the member. The member retains its
  // notes.
  private let member: Unmanaged<ListedTarget>
  private let notes: Unmanaged<TargetNotes>
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
    guard let notes = unsafe member._withUnsafeGuaranteedRef({ unsafe $0.lentNotes }) else {
      return nil
    }
    unsafe self.notes = notes
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
  func callWaiting(
    _ optional: Selector?, _ body: (UnsafeRawPointer) throws -> Void
  ) -> QueueTurn {
    var (isAlive, isLeftOut) = (false, false)
    var failure: (any Error)?
    unsafe member._withUnsafeGuaranteedRef { member in
      guard let queue = unsafe notes._withUnsafeGuaranteedRef({ $0.queue }) else { return }
      unsafe member.withAddress { object in
        isAlive = true
        let refusal = queue.wait(for: member) {
          let thread = unsafe fwd_thread()
          if let thread = unsafe thread { unsafe thread.pointee.arrivals += 1 }
          if optional != nil { unsafe fwd_forget_left_out(thread) }
          do {
            try unsafe _withUnprotectedUnsafePointer(to: (object, table)) { words in
              try unsafe body(UnsafeRawPointer(words))
            }
          } catch {
            failure = error
          }
          if let optional, unsafe fwd_is_left_out(thread, object, UInt64(optional.word)) != 0 {
            isLeftOut = true
          }
          if let thread = unsafe thread { unsafe thread.pointee.arrivals -= 1 }
        }
        if let refusal { failure = refusal }
      }
    }
    if !isAlive { return .message }
    // A default implementation without a value to return throws.
    if isLeftOut { return .over }
    return failure.map { .failed($0) } ?? .answered
  }

  /// Enqueues a call of the target. Returns false if a message is needed instead.
  func isGiven(
    _ later: (inout QueuedCall) -> Void, _ selector: Selector, isOptional: Bool
  ) -> Bool {
    unsafe member._withUnsafeGuaranteedRef { member in
      // A message finds out without the queue that a class leaves out the requirement, and records
      // the death of the target.
      guard !isOptional || isKnown(selector, member.type), member.isAlive else { return false }
      var call = unsafe QueuedCall(
        QueuedTurn(
          member: self.member, table: table, index: index, selector: selector,
          isOptional: isOptional))
      later(&call)
      return unsafe notes._withUnsafeGuaranteedRef { notes in
        guard let queue = notes.system, call.isEnqueued(on: queue) else { return false }
        member.markReached()
        return true
      }
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
  /// The target left out the requirement.
  case over
  /// The target threw, or the wait would never end.
  case failed(any Error)
  /// The target needs a message.
  case message
}

/// The queue of a target. Calls that a face enqueues do not retain the target.
package protocol TargetQueue: AnyObject, Sendable {
  var system: SystemQueue { get }
  /// Runs `body` on the queue, for a call of `member`, and waits. Returns an error, without having
  /// run it, if the wait would never end.
  func wait(for member: ListedTarget, _ body: () -> Void) -> (any Error)?
  /// Runs `body`, a call that arrived on the queue.
  func arrive(_ body: () -> Void)
  /// Reports an error that `member` threw, to the proxy.
  func report(_ error: any Error, of selector: Selector, by member: ListedTarget)
}
