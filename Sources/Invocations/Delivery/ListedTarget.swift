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

  package init(_ object: AnyObject, isStrong: Bool, _ way: Way) {
    identity = ObjectIdentifier(object)
    type = Swift.type(of: object)
    unsafe pointer = Unmanaged.passUnretained(object).toOpaque()
    unsafe state = .allocate(capacity: 1)
    var flags = way.flags
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

  /// Whether it had not begun to die a moment ago.
  package var isAlive: Bool {
    if isStrong { return true }
    guard let retained = unsafe swift_tryRetain(pointer) else { return false }
    unsafe swift_release(retained)
    return true
  }

  /// Runs `body` with the object's address, which is held meanwhile; not at all if it has begun to die. Nobody
  /// counts a reference to an object that is kept alive.
  @inline(__always)
  borrowing func withAddress(_ body: (UnsafeMutableRawPointer) throws -> Void) rethrows {
    if isStrong { return try unsafe body(pointer) }
    guard let retained = unsafe swift_tryRetain(pointer) else { return }
    defer { unsafe swift_release(retained) }
    try unsafe body(retained)
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

  /// How a delivery reaches a target.
  package enum Way: Sendable {
    /// It is called.
    case called
    /// It gets its messages on a queue, later; nothing else is special.
    case queued
    /// It gets them on a queue while the sender waits, however long; nothing else is special.
    case awaited
    /// Its wishes say how.
    case special

    fileprivate var flags: UInt32 {
      switch self {
      case .called: 0
      case .queued: UInt32(FWD_TARGET_SPECIAL | FWD_TARGET_QUEUED)
      case .awaited: UInt32(FWD_TARGET_SPECIAL | FWD_TARGET_AWAITED)
      case .special: UInt32(FWD_TARGET_SPECIAL)
      }
    }
  }

  package func setWay(_ way: Way) {
    // Special is set before all else is taken back, and taken back last: a delivery that looks meanwhile asks
    // for the wishes.
    if way != .called { _ = unsafe fwd_target_set_flag(state, UInt32(FWD_TARGET_SPECIAL)) }
    unsafe fwd_target_clear_flag(state, UInt32(FWD_TARGET_QUEUED | FWD_TARGET_AWAITED))
    switch way {
    case .called: unsafe fwd_target_clear_flag(state, UInt32(FWD_TARGET_SPECIAL))
    case .queued, .awaited: _ = unsafe fwd_target_set_flag(state, way.flags)
    case .special: break
    }
  }

  /// How a delivery reaches the target; `special` also where it may not at all.
  package var way: Way {
    switch unsafe fwd_target_flags(state) & ~UInt32(FWD_TARGET_STRONG) {
    case 0: .called
    case UInt32(FWD_TARGET_SPECIAL | FWD_TARGET_QUEUED): .queued
    case UInt32(FWD_TARGET_SPECIAL | FWD_TARGET_AWAITED): .awaited
    default: .special
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
