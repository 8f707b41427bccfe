import CForwardingShims

/// A target as the member of a list, and what may change about it while deliveries hold lists that it is in.
///
/// Refers to the object as an ``ObjectReference`` does, weakly at first or strongly, and may come to keep
/// it alive. Small, as there is one for each registration: deliveries find all that they need in one line
/// of the processor's cache.
@safe
package final class ListedTarget: @unchecked Sendable {
  // SAFETY: lies behind the header of this object, where the C core looks for it, and is reached through its
  // address alone. The object is retained strongly if the flags say so, else in the unowned count, until
  // `deinit`; what else changes is changed by atomic operations, or by the owner of the list under its lock.
  private nonisolated(unsafe) var stored: FWDTarget

  private var target: UnsafeMutablePointer<FWDTarget> {
    unsafe fwd_target_of(Unmanaged.passUnretained(self).toOpaque())
  }

  /// A number of the owner's.
  package let id: UInt64
  /// What else the owner notes about it, under its lock; nil for most.
  package var notes: AnyObject?

  /// - Parameters:
  ///   - way: how deliveries reach it.
  ///   - notes: as in ``notes``.
  package init(
    _ object: AnyObject, id: UInt64, isStrong: Bool, _ way: Way, notes: AnyObject?
  ) {
    self.id = id
    self.notes = notes
    let pointer = unsafe Unmanaged.passUnretained(object).toOpaque()
    var flags = way.flags
    if isStrong {
      flags |= UInt32(FWD_TARGET_STRONG)
      _ = unsafe swift_retain(pointer)
    } else {
      _ = unsafe swift_unownedRetain(pointer)
    }
    unsafe stored = FWDTarget(object: pointer, flags: flags, marks: 0, chunk: nil, witnesses: nil)
  }

  // The owner's notes die after this, so they may tell others of the end.
  deinit {
    let pointer = unsafe target.pointee.object
    if isStrong {
      unsafe swift_release(pointer)
    } else {
      unsafe swift_unownedRelease(pointer)
    }
  }

  /// Tells objects apart; valid also when the object is dead.
  package var identity: ObjectIdentifier {
    unsafe unsafeBitCast(target.pointee.object, to: ObjectIdentifier.self)
  }

  /// The object's class, likewise.
  package var type: AnyClass {
    unsafe unsafeBitCast(fwd_target_type(target), to: AnyClass.self)
  }

  /// How a face calls the object; nil where it sends messages.
  package var witnesses: FaceWitnesses? {
    get { unsafe fwd_target_witnesses(target).map { unsafe FaceWitnesses($0) } }
    set { unsafe fwd_target_set_witnesses(target, newValue?.record) }
  }

  /// The object, retained for the caller; nil if it has begun to die.
  package var object: AnyObject? {
    let pointer = unsafe target.pointee.object
    if isStrong { return unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() }
    guard let retained = unsafe swift_tryRetain(pointer) else { return nil }
    return unsafe Unmanaged<AnyObject>.fromOpaque(retained).takeRetainedValue()
  }

  /// Whether it had not begun to die a moment ago.
  package var isAlive: Bool {
    if isStrong { return true }
    guard let retained = unsafe swift_tryRetain(target.pointee.object) else { return false }
    unsafe swift_release(retained)
    return true
  }

  /// Runs `body` with the object's address, which is held meanwhile; not at all if it has begun to die. Nobody
  /// counts a reference to an object that is kept alive.
  @inline(__always)
  func withAddress(_ body: (UnsafeMutableRawPointer) throws -> Void) rethrows {
    let pointer = unsafe target.pointee.object
    if isStrong { return try unsafe body(pointer) }
    guard let retained = unsafe swift_tryRetain(pointer) else { return }
    defer { unsafe swift_release(retained) }
    try unsafe body(retained)
  }

  // MARK: Changing

  private func has(_ flag: Int) -> Bool { unsafe fwd_target_flags(target) & UInt32(flag) != 0 }

  /// Whether the object is kept alive.
  package var isStrong: Bool { has(FWD_TARGET_STRONG) }

  /// Keeps the object alive from now on; the caller holds it.
  package func keepAlive() {
    let pointer = unsafe target.pointee.object
    // Whoever sees the flag finds the object retained.
    _ = unsafe swift_retain(pointer)
    let before = unsafe fwd_target_set_flag(target, UInt32(FWD_TARGET_STRONG))
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
    if way != .called { _ = unsafe fwd_target_set_flag(target, UInt32(FWD_TARGET_SPECIAL)) }
    unsafe fwd_target_clear_flag(target, UInt32(FWD_TARGET_QUEUED | FWD_TARGET_AWAITED))
    switch way {
    case .called: unsafe fwd_target_clear_flag(target, UInt32(FWD_TARGET_SPECIAL))
    case .queued, .awaited: _ = unsafe fwd_target_set_flag(target, way.flags)
    case .special: break
    }
  }

  /// How a delivery reaches the target; `special` also where it may not at all.
  package var way: Way {
    switch unsafe fwd_target_flags(target) & ~UInt32(FWD_TARGET_STRONG) {
    case 0: .called
    case UInt32(FWD_TARGET_SPECIAL | FWD_TARGET_QUEUED): .queued
    case UInt32(FWD_TARGET_SPECIAL | FWD_TARGET_AWAITED): .awaited
    default: .special
    }
  }

  package var isRemoved: Bool { has(FWD_TARGET_REMOVED) }

  package func markRemoved() { _ = unsafe fwd_target_set_flag(target, UInt32(FWD_TARGET_REMOVED)) }

  package var isBlocked: Bool { unsafe fwd_target_flags(target) >= UInt32(FWD_TARGET_BLOCK) }

  package func block() { unsafe fwd_target_block(target) }

  /// False if it was not blocked.
  package func unblock() -> Bool { unsafe fwd_target_unblock(target) != 0 }

  // MARK: Marks

  /// What the owner of the list notes about a target, in few bits.
  package struct Marks: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The number that the upper bits count.
    package var number: Int { Int(rawValue / FWD_TARGET_COUNT) }
  }

  package var marks: Marks { unsafe Marks(rawValue: fwd_target_marks(target)) }

  /// Sets marks, and returns those that were set before; of several threads one sees a mark missing.
  @discardableResult
  package func mark(_ marks: Marks) -> Marks {
    unsafe Marks(rawValue: fwd_target_mark(target, marks.rawValue))
  }

  /// Counts one more or one less, and returns the marks as they are then.
  @discardableResult
  package func count(up isMore: Bool) -> Marks {
    unsafe Marks(rawValue: fwd_target_count_mark(target, isMore ? 1 : -1))
  }
}
