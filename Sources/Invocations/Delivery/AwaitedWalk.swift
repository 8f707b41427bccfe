// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The walk of an awaited delivery over the targets of a list, which it counts, because it may end on
/// another thread than the one that began it.
///
/// The list notes that it is awaited, for a removal that waits for the end of deliveries.
@safe
package struct AwaitedWalk: ~Copyable {
  // SAFETY: the delivery retains the proxy, which retains the list.
  private let list: UnsafeMutablePointer<FWDOwnedList>
  private var walk: TargetWalk
  private let ends: DeliveryEnds
  /// Whether cancelling the task ends the delivery, because the sender can throw the error.
  package let endsWithTask: Bool

  /// Begins a walk over the list as it is now. Returns nil without memory for this thread.
  package init?(_ list: TargetList, _ ends: DeliveryEnds, endsWithTask: Bool) {
    var kept = unsafe fwd_awaited_begin(list.owned)
    while unsafe kept == nil, unsafe fwd_thread() != nil {
      // Another thread may withdraw the list at once.
      unsafe list.owner?.publishTargets()
      unsafe kept = fwd_awaited_begin(list.owned)
    }
    guard let kept = unsafe kept else { return nil }
    unsafe self.list = list.owned
    walk = unsafe TargetWalk(kept)
    self.ends = ends
    // A list of one asks its target even if the task was cancelled.
    self.endsWithTask = endsWithTask && !list.isOfOne
  }

  deinit { unsafe fwd_awaited_end(walk.list, list) }

  /// Whether the task was cancelled, and that ends the delivery.
  package var isCancelled: Bool { endsWithTask && Task.isCancelled }

  /// The place of the next target; nil after the last one, or if the delivery is over.
  mutating func nextPlace(_ tally: inout TargetList.Tally) -> MemberPlace? {
    guard !tally.meets(ends), let place = unsafe walk.next() else { return nil }
    if isCancelled {
      // The target has no turn.
      unsafe walk.place = place
      tally.fail(CancellationError())
      return nil
    }
    return unsafe place
  }

  /// The next target; nil after the last one, or if the delivery is over.
  package mutating func next(_ tally: inout TargetList.Tally) -> ListedTarget? {
    unsafe nextPlace(&tally).map { unsafe member(at: $0) }
  }

  /// The targets that have had no turn.
  package mutating func takeRest() -> [ListedTarget] {
    var rest: [ListedTarget] = []
    while let place = unsafe walk.next() { unsafe rest.append(member(at: place)) }
    return rest
  }
}
