// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// A strong or a weak reference to an object.
///
/// A weak reference returns nil after the object's death, like Swift's `weak`. It is cheaper, with
/// two atomic instructions for each use, and does not slow the object down. The whole memory of a
/// dead instance stays allocated until the last such reference dies.
@safe
package final class ObjectReference: Sendable {
  /// Whether the reference retains the object.
  package let isStrong: Bool
  /// The identity of the object, also valid after its death.
  package let identity: ObjectIdentifier
  /// The object's class, also valid after its death.
  package let type: AnyClass

  // SAFETY: retained in `init`, in the strong or the unowned count, and released in `deinit`. Both
  // counts are atomic, so threads may share the reference.
  private nonisolated(unsafe) let pointer: UnsafeMutableRawPointer

  /// Makes a reference to an object.
  package init(_ object: AnyObject, isStrong: Bool) {
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

  /// The object, retained for the caller; nil if its deinitialization has begun.
  package var object: AnyObject? {
    if isStrong { return unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() }
    guard let retained = unsafe swift_tryRetain(pointer) else { return nil }
    return unsafe Unmanaged<AnyObject>.fromOpaque(retained).takeRetainedValue()
  }

  /// The object's address, valid until ``release(_:)``; nil if its deinitialization has begun. A
  /// strong reference already retains the object, so this retains nothing more.
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

/// A weak reference to an object of one class, in one word and without an allocation. Behaves like
/// a weak ``ObjectReference``.
@safe
@frozen
@usableFromInline
package struct WeakReference<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // SAFETY: in the unowned count from `init` to `deinit`. The count is atomic.
  @usableFromInline let pointer: UnsafeMutableRawPointer

  /// Makes a reference to an object.
  @inlinable
  package init(_ object: Object) {
    unsafe pointer = Unmanaged.passUnretained(object).toOpaque()
    _ = unsafe swift_unownedRetain(pointer)
  }

  @inlinable
  deinit { unsafe swift_unownedRelease(pointer) }

  /// The identity of the object, also valid after its death.
  package var identity: ObjectIdentifier {
    unsafe unsafeBitCast(pointer, to: ObjectIdentifier.self)
  }

  /// The object, retained for the caller; nil if its deinitialization has begun.
  @inlinable
  package var object: Object? {
    guard let retained = unsafe swift_tryRetain(pointer) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(retained).takeRetainedValue()
  }
}
