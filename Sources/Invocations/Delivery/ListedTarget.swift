// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A target as the member of a list, with the state that may change while deliveries hold the list.
///
/// It refers to the object weakly or strongly, like an ``ObjectReference``, and a weak reference
/// can become strong. It is small, because there is one for each registration: all that deliveries
/// need is in one cache line.
@safe
@usableFromInline
package final class ListedTarget: @unchecked Sendable {
  // SAFETY: stored behind the header of this object, where the C core expects it, and only accessed
  // through its address. The object is retained until `deinit`, strongly if the flags say so, else
  // in the unowned count. Other state is changed by atomic operations, or by the owner of the list
  // under its lock.
  private nonisolated(unsafe) var stored: FWDTarget

  private var target: UnsafeMutablePointer<FWDTarget> {
    unsafe fwd_target_of(Unmanaged.passUnretained(self).toOpaque())
  }

  /// A number that the owner assigned.
  package let id: UInt64
  /// Other data of the owner, which sets it once, under its lock, before the target is special. It is
  /// released last, so its `deinit` may report the end.
  package var notes: AnyObject? {
    get { unsafe keptNotes }
    set { unsafe keptNotes = newValue }
  }
  // Other modules would check each access for exclusivity.
  @exclusivity(unchecked) private var keptNotes: AnyObject?

  /// - Parameters:
  ///   - way: how deliveries reach the target.
  ///   - notes: see ``notes``.
  package init(
    _ object: AnyObject, id: UInt64, isStrong: Bool, _ way: Way, notes: AnyObject?
  ) {
    SwiftRuntime.isKnown
    self.id = id
    unsafe keptNotes = notes
    let pointer = unsafe Unmanaged.passUnretained(object).toOpaque()
    var flags = way.flags
    if isStrong {
      flags |= UInt32(FWD_TARGET_STRONG)
      _ = unsafe swift_retain(pointer)
    } else {
      _ = unsafe swift_unownedRetain(pointer)
    }
    unsafe stored = FWDTarget(object: pointer, flags: flags, marks: 0, witnesses: nil)
  }

  deinit {
    let pointer = unsafe target.pointee.object
    if isStrong {
      unsafe swift_release(pointer)
    } else {
      unsafe swift_unownedRelease(pointer)
    }
  }

  /// The identity of the object, also valid after its death.
  package var identity: ObjectIdentifier {
    unsafe unsafeBitCast(target.pointee.object, to: ObjectIdentifier.self)
  }

  /// The object's class, also valid after its death.
  package var type: AnyClass {
    unsafe unsafeBitCast(fwd_target_type(target), to: AnyClass.self)
  }

  /// The type of what the object stands for: its class, but for a box that of the value.
  package var targetType: Any.Type {
    if !marks.contains(.box) { return type }
    return (object as? any ManyTargets)?.__targetType ?? type
  }

  /// How a proxy calls the object; nil where it sends messages.
  package var witnesses: ProxyWitnesses? {
    get { unsafe fwd_target_witnesses(target).map { unsafe ProxyWitnesses($0) } }
    set { unsafe fwd_target_set_witnesses(target, newValue?.record) }
  }

  /// The object, retained for the caller; nil if its deinitialization has begun.
  package var object: AnyObject? {
    let pointer = unsafe target.pointee.object
    if isStrong { return unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() }
    guard let retained = unsafe swift_tryRetain(pointer) else { return nil }
    return unsafe Unmanaged<AnyObject>.fromOpaque(retained).takeRetainedValue()
  }

  /// Whether the object's deinitialization had not begun at the time of the call.
  package var isAlive: Bool {
    unsafe isStrong || !swift_isDeallocating(target.pointee.object)
  }

  /// Runs `body` with the object's address, and retains the object meanwhile, unless the reference
  /// is strong. Does not run `body` if the object's deinitialization has begun.
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

  /// Whether the reference retains the object.
  package var isStrong: Bool { has(FWD_TARGET_STRONG) }

  /// Makes the reference strong. The caller retains the object.
  package func keepAlive() {
    let pointer = unsafe target.pointee.object
    // Retained before the flag is set, so a thread that sees the flag finds the object retained.
    _ = unsafe swift_retain(pointer)
    let before = unsafe fwd_target_set_flag(target, UInt32(FWD_TARGET_STRONG))
    if before & UInt32(FWD_TARGET_STRONG) == 0 {
      unsafe swift_unownedRelease(pointer)
    } else {
      unsafe swift_release(pointer)
    }
  }

  /// Whether a delivery may not call the target directly.
  package var isSpecial: Bool { has(FWD_TARGET_SPECIAL) }

  /// How a delivery reaches a target.
  package enum Way: Sendable {
    /// By calling it directly.
    case called
    /// Asynchronously on a queue, with no other special treatment.
    case queued
    /// On a queue while the sender waits without a time limit, with no other special treatment.
    case awaited
    /// As the `wishes` of its registration say.
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
    // The special flag is set before other flags are cleared, and cleared last: a delivery that
    // reads the flags meanwhile looks up the `wishes`.
    if way != .called { _ = unsafe fwd_target_set_flag(target, UInt32(FWD_TARGET_SPECIAL)) }
    unsafe fwd_target_clear_flag(target, UInt32(FWD_TARGET_QUEUED | FWD_TARGET_AWAITED))
    switch way {
    case .called: unsafe fwd_target_clear_flag(target, UInt32(FWD_TARGET_SPECIAL))
    case .queued, .awaited: _ = unsafe fwd_target_set_flag(target, way.flags)
    case .special: break
    }
  }

  /// How a delivery reaches the target; also `special` if it may not reach it.
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

  /// Returns false if the target was not blocked.
  package func unblock() -> Bool { unsafe fwd_target_unblock(target) != 0 }

  // MARK: Marks

  /// Bits in which the owner of the list stores facts about a target.
  package struct Marks: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A delivery has found the target alive.
    fileprivate static let met = Self(rawValue: 1)
    /// The object stands for a value, whatever else the owner notes.
    package static let box = Self(rawValue: 8)
  }

  package var marks: Marks { unsafe Marks(rawValue: fwd_target_marks(target)) }

  /// Sets marks atomically, and returns the marks that were set before. If several threads set a
  /// mark, only one of them gets it as missing.
  @discardableResult
  package func mark(_ marks: Marks) -> Marks {
    unsafe Marks(rawValue: fwd_target_mark(target, marks.rawValue))
  }

  /// Clears marks atomically.
  package func unmark(_ marks: Marks) { unsafe fwd_target_unmark(target, marks.rawValue) }

  /// Whether a delivery has found the target alive.
  package var wasReached: Bool { marks.rawValue & Marks.met.rawValue != 0 }

  package func markReached() { if !wasReached { mark(.met) } }
}

extension ListedTarget {
  /// Calls an object of this target. Returns false if its class leaves the requirement out.
  ///
  /// - Parameter optional: the selector, if the requirement is optional.
  @unsafe
  @inline(__always)
  func isAnswered(
    _ object: UnsafeMutableRawPointer, _ optional: Selector?, _ body: () throws -> Void
  ) throws -> Bool {
    if let optional {
      return try unsafe OptionalRequirement.isAnswered(optional, by: object, of: type, body)
    }
    try body()
    return true
  }
}
