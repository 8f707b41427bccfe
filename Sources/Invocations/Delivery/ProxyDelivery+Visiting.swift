// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

extension ProxyDelivery {
  /// Calls `body` with the targets that a proxy calls on the current thread, in order.
  ///
  /// - Parameters:
  ///   - isDirect: whether the objects of members are the targets.
  ///   - other: finds the target of a member that the proxy does not call; nil to skip the member.
  ///   - body: returns whether the visit goes on.
  /// - Returns: false, without having called `body`, if the thread cannot hold another list.
  /// - Throws: the error of `body`, which ends the visit.
  @inlinable
  package static func visit<Target, Failure: Error>(
    _ targets: ProxyTargets, isDirect: Bool, other: (ListedTarget) -> Target?,
    _ body: (Target) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    var round = unsafe fwd_direct_begin(fwd_list_place(targets.owned), targets.step)
    if unsafe round.list == nil { unsafe round = begin(targets) }
    guard let held = unsafe round.list else { return false }
    defer { unsafe fwd_direct_end(round) }
    var walk = unsafe TargetWalk(held)
    while let place = unsafe walk.next() {
      let taken =
        unsafe isDirect ? fwd_direct_take(place, targets.proxy, 0) : FWDDirectTarget()
      if let object = unsafe taken.object {
        if try !body(unsafe DirectValue.make(of: taken, object)) { break }
      } else if let target = other(unsafe member(at: place)), try !body(target) {
        break
      }
    }
    return true
  }
}
