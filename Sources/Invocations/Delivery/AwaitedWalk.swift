// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The walk of an awaited delivery over the targets of a list: a *snapshot*, which the delivery
/// counts, because it may end on another thread than the one that began it.
///
/// The list notes that it is awaited, for a removal that waits for the end of deliveries.
@safe
package struct AwaitedWalk: ~Copyable {
  // SAFETY: the delivery retains the proxy, which retains the owned list.
  private let list: UnsafeMutablePointer<FWDOwnedList>
  private let kept: UnsafePointer<FWDTargetList>
  private var turn = unsafe FWDDirectTurn()
  private let ends: DeliveryEnds
  /// Whether cancelling the task ends the delivery, because the sender can throw the error.
  package let endsWithTask: Bool

  /// Begins a walk over the list as it is now. Returns nil without memory for this thread.
  package init?(
    _ owner: some TargetListOwner, _ ends: DeliveryEnds, endsWithTask: Bool
  ) {
    unsafe self.init(owner.targetList.owned, ends, endsWithTask: endsWithTask) {
      owner.publishTargets()
    }
  }

  /// - Parameter publish: publishes the list, which another thread may withdraw at once.
  @unsafe
  init?(
    _ list: UnsafeMutablePointer<FWDOwnedList>, _ ends: DeliveryEnds, endsWithTask: Bool,
    publish: () -> Void
  ) {
    var kept = unsafe fwd_awaited_begin(list)
    while unsafe kept == nil, unsafe fwd_thread() != nil {
      publish()
      unsafe kept = fwd_awaited_begin(list)
    }
    guard let kept = unsafe kept else { return nil }
    unsafe (self.list, self.kept) = (list, kept)
    self.ends = ends
    // A list of one asks its target even if the task was cancelled.
    self.endsWithTask = unsafe endsWithTask && fwd_list_rules(list) & UInt32(FWD_LIST_OF_ONE) == 0
  }

  deinit { unsafe fwd_awaited_end(kept, list) }

  /// Whether the task was cancelled, and that ends the delivery.
  package var isCancelled: Bool { endsWithTask && Task.isCancelled }

  /// The place of the next target; nil after the last one, or if the delivery is over.
  mutating func nextPlace(_ tally: inout TargetList.Tally) -> MemberPlace? {
    if ends.areMet(tally) { return nil }
    unsafe turn = fwd_direct_turn(kept, turn)
    guard let place = unsafe turn.member else { return nil }
    if isCancelled {
      tally.fail(CancellationError())
      return nil
    }
    unsafe turn.member = place + 1
    return unsafe place
  }

  /// The next target; nil after the last one, or if the delivery is over.
  package mutating func next(_ tally: inout TargetList.Tally) -> ListedTarget? {
    unsafe nextPlace(&tally).map { unsafe member(at: $0) }
  }

  /// The targets that have had no turn.
  package mutating func takeRest() -> [ListedTarget] {
    var rest: [ListedTarget] = []
    unsafe turn = fwd_direct_turn(kept, turn)
    while let place = unsafe turn.member {
      unsafe rest.append(member(at: place))
      unsafe turn.member = place + 1
      unsafe turn = fwd_direct_turn(kept, turn)
    }
    return rest
  }
}
