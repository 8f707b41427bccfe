// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The owner of the targets in a list.
package protocol TargetListOwner: AnyObject {
  /// Publishes the list, if it is not published.
  func publishTargets()
  /// Sends to a member that is not simply called.
  func deliver(_ call: Call, to member: ListedTarget, _ tally: inout TargetList.Tally)
  /// Calls a requirement of a living member as its options say: in place, on its lane while the sender
  /// waits, or later.
  ///
  /// - Parameters:
  ///   - mayLeaveOut: whether the class of the member may leave the requirement out.
  ///   - isAnswered: calls the member on the current thread. Returns false if it leaves the
  ///     requirement out.
  ///   - later: makes the call for another thread; nil if that needs a message.
  func call(
    _ member: ListedTarget, _ selector: Selector, mayLeaveOut: Bool,
    _ isAnswered: () throws -> Bool, later: () -> QueuedCall?
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

/// The targets of a proxy, published as immutable lists that are replaced.
///
/// A delivery holds the list that it found, without a lock, a retain or a release. The owner
/// changes the members under its own lock, and withdraws the list there.
@safe
@usableFromInline
package final class TargetList: @unchecked Sendable {
  // SAFETY: stored behind the header of this object, and only accessed through its address. The
  // place is changed by atomic operations, and its old content is retired.
  private nonisolated(unsafe) var stored = unsafe FWDOwnedList()

  /// The members, in order. The owner reads and changes them under its lock.
  package private(set) var all: [ListedTarget] = []
  /// The number of the newest member that was ever published.
  private var newest: UInt64 = 0

  /// The owner, which retains the list.
  private(set) unowned(unsafe) var owner: (any TargetListOwner)?

  /// Tells the list its owner, before the first delivery.
  package func setOwner(_ owner: any TargetListOwner) { unsafe self.owner = owner }

  var owned: UnsafeMutablePointer<FWDOwnedList> {
    unsafe fwd_owned_list_of(Unmanaged.passUnretained(self).toOpaque())
  }

  var place: UnsafeMutablePointer<FWDListPlace> { unsafe fwd_list_place(owned) }

  /// Whether deliveries find a published list.
  var isPublished: Bool { unsafe fwd_published(&place.pointee.list) != nil }

  /// Whether an awaited delivery may reach a member. The caller has the owner's lock, and has
  /// withdrawn the list.
  package func isAwaited(_ member: ListedTarget) -> Bool {
    unsafe fwd_list_is_awaited(owned, member.id) != 0
  }

  package init() {}

  deinit { retire(withdraw()) }

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

  /// Publishes the members. The owner calls this under its lock.
  package func publish() {
    // Another delivery may have published first.
    if isPublished { return }
    let before = newest
    for member in all where member.id > before {
      newest = max(newest, member.id)
      // It is not reported as unreached when it dies later.
      if member.isAlive { member.markReached() }
    }
    let list = unsafe all.withUnsafeBytes { members in
      unsafe fwd_list_make(
        members.assumingMemoryBound(to: UnsafeRawPointer.self).baseAddress, all.count, newest)
    }
    _ = unsafe fwd_publish(&place.pointee.list, list)
  }

  // MARK: Members

  /// Inserts a member, which is not in the list, before the first member for which `isLower` is true.
  /// `isLower` must be false for a prefix of the list, and true for the rest.
  package func insert(_ member: ListedTarget, before isLower: (ListedTarget) -> Bool) {
    var range = 0..<all.count
    // Most belong at the end.
    if let last = all.last, !isLower(last) { range = all.count..<all.count }
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range =
        isLower(all[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    all.insert(member, at: range.lowerBound)
  }

  /// Removes members of the list, which the caller retains. Deliveries that hold older lists still
  /// reach them.
  package func remove(_ gone: [ListedTarget]) {
    if gone.count == 1, let index = all.lastIndex(where: { $0 === gone[0] }) {
      all.remove(at: index)
    } else {
      let gone = Set(gone.map { ObjectIdentifier($0) })
      all.removeAll { gone.contains(ObjectIdentifier($0)) }
    }
  }

  /// What kept a target from answering. It does not retain the member, because the code that is
  /// notified of it may wait for the member's end.
  @usableFromInline
  package struct Failure {
    package let error: any Error
    /// The target; nil for an error of the delivery itself.
    package let target: (id: UInt64, identity: ObjectIdentifier, type: Any.Type)?
  }

  /// The outcome of a delivery so far.
  @usableFromInline
  @frozen
  package struct Tally {
    /// The number of targets that answered.
    @usableFromInline package var answered = 0
    /// Whether messages were enqueued.
    @usableFromInline package var hasQueued = false
    /// Whether a target was dead.
    @usableFromInline package var metDead = false
    /// All errors. The first one is thrown.
    @usableFromInline package private(set) var failures: [Failure] = []

    @inlinable
    package init() {}

    package var error: (any Error)? { failures.first?.error }

    /// Whether no error or dead target needs to be handled.
    package func isSimple(_ hasResult: Bool) -> Bool {
      (answered > 0 || (hasQueued && !hasResult)) && failures.isEmpty && !metDead
    }

    /// Records an error of a target. A left-out optional requirement is not one.
    package mutating func fail(_ error: any Error, at member: ListedTarget) {
      if error is NotImplemented { return }
      failures.append(
        Failure(error: error, target: (member.id, member.identity, member.targetType)))
    }

    /// Records an error without a target, such as a message that could not be sent. Behind another
    /// error it says nothing new.
    package mutating func fail(_ error: any Error) {
      if failures.isEmpty { failures.append(Failure(error: error, target: nil)) }
    }
  }
}
