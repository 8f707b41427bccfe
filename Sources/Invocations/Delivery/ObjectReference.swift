public import CForwardingShims

/// A strong or a weak reference to an object.
///
/// ```swift
/// let reference = ObjectReference(account, isStrong: false)
/// reference.object === account  // true
/// let other = ObjectReference(Account(), isStrong: false)
/// other.object                  // nil: nobody held it
/// ```
///
/// A weak one zeroes like Swift's `weak`, but is cheaper, two locked instructions for each use, and
/// does not slow the object down. The whole memory of a dead instance stays until the last such
/// reference dies.
@safe
public final class ObjectReference: Sendable {
  /// Whether the object is kept alive.
  public let isStrong: Bool
  /// Tells objects apart; valid also when the object is dead.
  public let identity: ObjectIdentifier
  /// The object's class, valid also when the object is dead.
  package let type: AnyClass

  // SAFETY: retained in `init`, strongly or in the unowned count, and released in `deinit`. Both
  // counts are atomic, so threads may share this.
  private nonisolated(unsafe) let pointer: UnsafeMutableRawPointer

  /// Refers to an object.
  public init(_ object: AnyObject, isStrong: Bool) {
    self.isStrong = isStrong
    identity = ObjectIdentifier(object)
    type = Swift.type(of: object)
    if isStrong {
      unsafe pointer = Unmanaged.passRetained(object).toOpaque()
    } else {
      unsafe pointer = Unmanaged.passUnretained(object).toOpaque()
      _ = unsafe swift_unownedRetain(pointer)
    }
  }

  deinit {
    if isStrong {
      unsafe Unmanaged<AnyObject>.fromOpaque(pointer).release()
    } else {
      unsafe swift_unownedRelease(pointer)
    }
  }

  /// The object, retained for the caller; nil if it has begun to die.
  public var object: AnyObject? {
    if isStrong { return unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() }
    guard let retained = unsafe swift_tryRetain(pointer) else { return nil }
    return unsafe Unmanaged<AnyObject>.fromOpaque(retained).takeRetainedValue()
  }

  /// The object's address, good until ``release(_:)``; nil if it has begun to die. A strong reference
  /// holds it anyway, so nothing is counted.
  @unsafe
  func retained() -> UnsafeMutableRawPointer? {
    if isStrong { return unsafe pointer }
    return unsafe swift_tryRetain(pointer)
  }

  @unsafe
  func release(_ object: UnsafeMutableRawPointer) {
    if !isStrong { unsafe swift_release(object) }
  }
}

/// A weak reference to an object of one class, in one word and without an object of its own. Otherwise as
/// ``ObjectReference``.
@safe
@frozen
@usableFromInline
package struct WeakReference<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // SAFETY: in the unowned count from `init` to `deinit`; that count is atomic.
  @usableFromInline let pointer: UnsafeMutableRawPointer

  /// Refers to an object.
  @inlinable
  package init(_ object: Object) {
    unsafe pointer = Unmanaged.passUnretained(object).toOpaque()
    _ = unsafe swift_unownedRetain(pointer)
  }

  @inlinable
  deinit { unsafe swift_unownedRelease(pointer) }

  /// The object, retained for the caller; nil if it has begun to die.
  @inlinable
  package var object: Object? {
    guard let retained = unsafe swift_tryRetain(pointer) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(retained).takeRetainedValue()
  }
}
