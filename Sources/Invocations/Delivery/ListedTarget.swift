import CForwardingShims

/// One target of a list, and what may change about it while deliveries hold lists that it is in.
///
/// Refers to the object as an ``ObjectReference`` does, weakly at first or strongly, and may come to keep
/// it alive.
@safe
package struct ListedTarget: ~Copyable, @unchecked Sendable {
  /// Tells objects apart; valid also when the object is dead.
  package let identity: ObjectIdentifier
  /// The object's class, likewise.
  package let type: AnyClass
  // SAFETY: retained strongly if the flags say so, else in the unowned count, and released in `deinit`.
  private let pointer: UnsafeMutableRawPointer
  // SAFETY: allocated in `init`, freed in `deinit`, and changed by atomic operations alone.
  private let state: UnsafeMutablePointer<FWDTargetState>

  /// - Parameter isSpecial: whether a delivery may not simply call it.
  package init(_ object: AnyObject, isStrong: Bool, isSpecial: Bool) {
    identity = ObjectIdentifier(object)
    type = Swift.type(of: object)
    unsafe pointer = Unmanaged.passUnretained(object).toOpaque()
    unsafe state = .allocate(capacity: 1)
    var flags = isSpecial ? UInt32(FWD_TARGET_SPECIAL) : 0
    if isStrong {
      flags |= UInt32(FWD_TARGET_STRONG)
      _ = unsafe swift_retain(pointer)
    } else {
      _ = unsafe swift_unownedRetain(pointer)
    }
    unsafe state.initialize(to: FWDTargetState(flags: flags))
  }

  deinit {
    if isStrong {
      unsafe swift_release(pointer)
    } else {
      unsafe swift_unownedRelease(pointer)
    }
    unsafe state.deallocate()
  }

  /// The object, retained for the caller; nil if it has begun to die.
  package var object: AnyObject? {
    if isStrong { return unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() }
    guard let retained = unsafe swift_tryRetain(pointer) else { return nil }
    return unsafe Unmanaged<AnyObject>.fromOpaque(retained).takeRetainedValue()
  }

  // MARK: Changing

  private func has(_ flag: Int) -> Bool { unsafe fwd_target_flags(state) & UInt32(flag) != 0 }

  /// Whether the object is kept alive.
  package var isStrong: Bool { has(FWD_TARGET_STRONG) }

  /// Keeps the object alive from now on; the caller holds it.
  package func keepAlive() {
    // Whoever sees the flag finds the object retained.
    _ = unsafe swift_retain(pointer)
    let before = unsafe fwd_target_set_flag(state, UInt32(FWD_TARGET_STRONG))
    if before & UInt32(FWD_TARGET_STRONG) == 0 {
      unsafe swift_unownedRelease(pointer)
    } else {
      unsafe swift_release(pointer)
    }
  }

  /// Whether a delivery may not simply call it.
  package var isSpecial: Bool { has(FWD_TARGET_SPECIAL) }

  package func setSpecial(_ isSpecial: Bool) {
    if isSpecial {
      _ = unsafe fwd_target_set_flag(state, UInt32(FWD_TARGET_SPECIAL))
    } else {
      unsafe fwd_target_clear_flag(state, UInt32(FWD_TARGET_SPECIAL))
    }
  }

  package var isRemoved: Bool { has(FWD_TARGET_REMOVED) }

  package func markRemoved() { _ = unsafe fwd_target_set_flag(state, UInt32(FWD_TARGET_REMOVED)) }

  package var isBlocked: Bool { unsafe fwd_target_flags(state) >= UInt32(FWD_TARGET_BLOCK) }

  package func block() { unsafe fwd_target_block(state) }

  /// False if it was not blocked.
  package func unblock() -> Bool { unsafe fwd_target_unblock(state) != 0 }

  // MARK: In a list

  /// The target as a list shows it, good while its member is kept.
  @safe
  package struct Entry {
    fileprivate let object: UnsafeMutableRawPointer
    fileprivate let type: UInt
    fileprivate let state: UnsafePointer<FWDTargetState>
    fileprivate let member: AnyObject

    /// For a list, which keeps the member.
    var kept: FWDTarget {
      unsafe FWDTarget(
        object: object, type: type, state: state,
        member: Unmanaged.passRetained(member).toOpaque(), run: 0)
    }
  }

  /// The target for the list that `member`, which has it, is in.
  package func entry(of member: AnyObject) -> Entry {
    unsafe Entry(
      object: pointer, type: UInt(bitPattern: ObjectIdentifier(type)), state: UnsafePointer(state),
      member: member)
  }
}
