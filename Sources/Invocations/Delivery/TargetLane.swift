// SPDX-License-Identifier: Apache-2.0
/// The lane of a target. Calls on their way to it do not retain it.
package protocol TargetLane: AnyObject, Sendable {
  /// The queue, if the lane is one.
  var queue: SystemQueue? { get }
  /// The object that represents the delivery among the forwarding steps of the receiving threads.
  var step: AnyObject? { get }
  /// Runs `body`, which calls `member`, on the queue, and waits. Returns an error, without having run
  /// it, if the wait would never end.
  func wait(for member: ListedTarget, _ selector: Selector, _ body: () -> Void) -> (any Error)?
  /// Runs `body`, a call whose sender does not wait, and which has arrived on the lane.
  func arrive(_ body: () -> Void)
  /// Reports an error that `member` threw, to the proxy.
  func report(_ error: any Error, of selector: Selector, by member: ListedTarget)
}

/// What the owner of a list notes about a target that needs more than flags.
package final class TargetNotes {
  package let lane: any TargetLane
  /// The queue of the lane, which deliveries read without a lock and without a cast.
  let queue: SystemQueue?

  package init(_ lane: any TargetLane) {
    self.lane = lane
    queue = lane.queue
  }
}
