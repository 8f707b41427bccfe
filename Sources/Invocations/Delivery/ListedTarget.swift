import CForwardingShims

/// One target of a list, and what may change about it while deliveries hold lists that it is in.
@safe
package final class ListedTarget: @unchecked Sendable {
  /// The object.
  package let reference: ObjectReference
  // SAFETY: allocated in `init`, freed in `deinit`, and changed by atomic operations alone.
  let state: UnsafeMutablePointer<FWDTargetState>

  /// - Parameters:
  ///   - isSpecial: whether a delivery may not simply call it.
  ///   - blocks: how often it is blocked from the start.
  package init(_ reference: ObjectReference, isSpecial: Bool, blocks: Int = 0) {
    self.reference = reference
    unsafe state = .allocate(capacity: 1)
    let flags = UInt32(isSpecial ? FWD_TARGET_SPECIAL : 0) + UInt32(blocks * FWD_TARGET_BLOCK)
    unsafe state.initialize(
      to: FWDTargetState(flags: flags, is_strong: reference.isStrong ? 1 : 0))
  }

  deinit { unsafe state.deallocate() }

  package var isRemoved: Bool {
    unsafe fwd_target_flags(state) & UInt32(FWD_TARGET_REMOVED) != 0
  }

  package func markRemoved() { unsafe fwd_target_mark_removed(state) }

  package var isBlocked: Bool { unsafe fwd_target_flags(state) >= UInt32(FWD_TARGET_BLOCK) }

  /// How often it is blocked.
  package var blocks: Int { unsafe Int(fwd_target_flags(state)) / FWD_TARGET_BLOCK }

  package func block() { unsafe fwd_target_block(state) }

  /// False if it was not blocked.
  package func unblock() -> Bool { unsafe fwd_target_unblock(state) != 0 }
}
