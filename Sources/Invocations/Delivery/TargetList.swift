// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The owner of the targets in a list.
package protocol TargetListOwner: AnyObject {
  /// The list.
  var targetList: TargetList { get }
  /// Publishes the list, if it is not published.
  func publishTargets()
  /// Sends to a member that is not simply called.
  func deliver(_ call: Call, to member: ListedTarget, _ tally: inout TargetList.Tally)
  /// Calls a requirement of a living member with options that need more than a queue, in place, on
  /// its lane, or later.
  ///
  /// - Parameters:
  ///   - mayLeaveOut: whether the class of the member may leave the requirement out.
  ///   - isAnswered: calls the member on the current thread. Returns false if it leaves the
  ///     requirement out.
  ///   - later: makes the call for another thread; nil if that needs a message.
  func callSpecially(
    _ member: ListedTarget, _ selector: Selector, mayLeaveOut: Bool,
    _ isAnswered: () throws -> Bool, later: () -> LaterCall?
  ) -> LaneTurn
  /// Sends an awaited message to a member that cannot be called directly.
  nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation, to member: ListedTarget, _ tally: inout TargetList.Tally) async
  /// Tells that the answer of a target is overruled by that of a later one.
  func overrule(_ member: ListedTarget, _ selector: Selector)
  /// Decides what the sender gets, and does the work that no sender sees: removes dead targets, and
  /// reports the errors that the sender does not get.
  func verdict(
    _ selector: Selector, _ tally: TargetList.Tally, returnsValue: Bool, hasOtherwise: Bool
  ) -> Verdict
}

/// What the sender of a delivered message gets.
@usableFromInline
package enum Verdict {
  /// The answer that counts, or nothing.
  case answered
  /// No target answered. The error is for a sender that can throw.
  case unanswered((any Error)?)
  /// The first error of a target.
  case failed(any Error)
}

extension TargetListOwner {
  /// An owner whose members have no options.
  package func callSpecially(
    _ member: ListedTarget, _ selector: Selector, mayLeaveOut: Bool,
    _ isAnswered: () throws -> Bool, later: () -> LaterCall?
  ) -> LaneTurn { .message }
}

/// The targets of a proxy, published as immutable lists that are replaced.
///
/// A delivery holds the list that it found, without a lock, a retain or a release. The owner
/// changes the members under its own lock, and withdraws the list there.
@safe
@usableFromInline
package final class TargetList: @unchecked Sendable {
  // SAFETY: stored behind the header of this object, and only accessed through its address. The
  // place is changed by atomic operations, and its old content is retired. The members are changed
  // under the owner's lock.
  private nonisolated(unsafe) var stored = unsafe FWDOwnedList()

  var owned: UnsafeMutablePointer<FWDOwnedList> {
    unsafe fwd_owned_list_of(Unmanaged.passUnretained(self).toOpaque())
  }

  var place: UnsafeMutablePointer<FWDListPlace> { unsafe fwd_list_place(owned) }

  var members: UnsafeMutablePointer<FWDMembers> { unsafe fwd_list_members(owned) }

  /// Whether deliveries find a published list.
  var isPublished: Bool { unsafe fwd_published(&place.pointee.list) != nil }

  /// Records an awaited delivery to the members with numbers up to `newest`. The caller has the
  /// owner's lock.
  package func beginAwaited(newest: UInt64) {
    unsafe fwd_list_begin_awaited(owned, newest)
  }

  package func endAwaited() { unsafe fwd_list_end_awaited(owned) }

  /// Whether an awaited delivery may reach a member. The caller has the owner's lock, and has
  /// withdrawn the list.
  package func isAwaited(_ member: ListedTarget) -> Bool {
    unsafe fwd_list_is_awaited(owned, member.id) != 0
  }

  package init() {}

  deinit {
    retire(withdraw())
    unsafe fwd_members_destroy(members)
  }

  /// A list that no new delivery finds.
  @safe
  package struct Withdrawn {
    fileprivate let list: UnsafeMutablePointer<FWDTargetList>?
  }

  /// Releases a withdrawn list of this object, at once or after the last delivery that holds it.
  /// Targets may die here, so the caller must not hold a lock.
  package func retire(_ old: Withdrawn) {
    if let list = unsafe old.list { unsafe fwd_targets_retire(place, list) }
  }

  /// Withdraws the list. The next delivery requests a new one.
  package func withdraw() -> Withdrawn {
    guard isPublished else { return unsafe Withdrawn(list: nil) }
    return unsafe Withdrawn(
      list: fwd_publish(&place.pointee.list, nil)?.assumingMemoryBound(to: FWDTargetList.self))
  }

  /// Publishes the members, whose numbers are at most `newest`. The owner calls this under its
  /// lock.
  package func publish(newest: UInt64) {
    // Another delivery may have published first.
    if isPublished { return }
    _ = unsafe fwd_publish(&place.pointee.list, fwd_members_list(members, newest))
  }

  /// An error of a target. It does not retain the member, because the code that is notified of it
  /// may wait for the member's end.
  @usableFromInline
  package struct LaterError {
    package let id: UInt64
    package let identity: ObjectIdentifier
    package let type: Any.Type
    package let error: any Error

    init(_ member: ListedTarget, _ error: any Error) {
      (id, identity, type) = (member.id, member.identity, member.targetType)
      self.error = error
    }
  }

  /// The outcome of a delivery, small enough for four registers.
  @usableFromInline
  @frozen
  package struct Tally {
    /// The number of targets that answered.
    @usableFromInline package var answered = 0
    /// Whether messages were enqueued.
    @usableFromInline package var hasQueued = false
    /// Whether a target was dead.
    @usableFromInline package var metDead = false
    /// The first error, which is thrown.
    @usableFromInline package private(set) var error: (any Error)?
    /// The later errors, which are not thrown, with their targets.
    @usableFromInline package internal(set) var laterErrors: [LaterError] = []

    @inlinable
    package init(answered: Int = 0) { self.answered = answered }

    /// Whether no error or dead target needs to be handled.
    @inlinable
    package func isSimple(_ hasResult: Bool) -> Bool {
      (answered > 0 || (hasQueued && !hasResult)) && error == nil && !metDead
    }

    /// Records an error. A left-out optional requirement is not one.
    package mutating func fail(_ error: any Error, at member: ListedTarget) {
      if error is NotImplemented { return }
      if self.error == nil {
        self.error = error
      } else {
        laterErrors.append(LaterError(member, error))
      }
    }

    /// Records an error without a target, such as a message that could not be sent.
    mutating func fail(_ error: any Error) { if self.error == nil { self.error = error } }
  }
}
