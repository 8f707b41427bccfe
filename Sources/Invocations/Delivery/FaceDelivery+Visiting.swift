// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

extension FaceDelivery {
  /// Calls `body` with the targets that a face calls on the current thread, in order.
  ///
  /// - Parameters:
  ///   - other: finds the target of a member that the face does not call; nil to skip the member.
  /// - Returns: false, without having called `body`, if the face calls no targets.
  /// - Throws: the error of `body`, which ends the visit.
  @inlinable
  package static func visit<Target, Failure: Error>(
    _ targets: FaceTargets, other: (ListedTarget) -> Target?,
    _ body: (Target) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    guard MemoryLayout<Target>.size == 2 * MemoryLayout<UInt>.size, let list = unsafe targets.list
    else { return false }
    let place = unsafe fwd_list_place(fwd_owned_list_of(list))
    var round = unsafe fwd_direct_begin(place, list)
    if unsafe round.list == nil { unsafe round = begin(targets, list, fwd_stack_address()) }
    guard let held = unsafe round.list else { return false }
    defer { unsafe fwd_direct_end(round) }
    var turn = unsafe fwd_direct_turn(held, FWDDirectTurn())
    while let member = unsafe turn.member {
      defer {
        unsafe turn.member = member + 1
        unsafe turn = fwd_direct_turn(held, turn)
      }
      let taken = unsafe fwd_direct_take(member, targets.face, 0)
      guard let object = unsafe taken.object else {
        if let target = unsafe other(listed(at: member)) { try body(target) }
        continue
      }
      defer { unsafe fwd_direct_give_back(taken) }
      try unsafe withUnsafeBytes(of: (object, taken.table)) { words throws(Failure) in
        // SAFETY: a value of a protocol for objects is the object and the table. As a `FaceTarget` it is
        // borrowed.
        try body(
          unsafe words.baseAddress.unsafelyUnwrapped.assumingMemoryBound(
            to: FaceTarget<Target>.self
          ).pointee.value)
      }
    }
    return true
  }

  @usableFromInline @unsafe
  static func listed(at place: UnsafePointer<UnsafeRawPointer>) -> ListedTarget {
    unsafe member(at: place)
  }
}
