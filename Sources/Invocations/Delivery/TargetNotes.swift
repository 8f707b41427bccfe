// SPDX-License-Identifier: Apache-2.0
/// What the owner of a list notes about a target that needs more than flags.
package final class TargetNotes {
  /// The queue of the target, which deliveries read without a lock and without a cast.
  package let queue: (any TargetQueue)?
  /// The same queue, for work without a block.
  let system: SystemQueue?
  /// Everything else, which the owner's lock protects.
  package let rest: AnyObject

  package init(_ queue: (any TargetQueue)?, _ rest: AnyObject) {
    self.queue = queue
    system = queue?.system
    self.rest = rest
  }
}
