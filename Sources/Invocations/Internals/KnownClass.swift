// SPDX-License-Identifier: Apache-2.0

/// Objects whose class is known where the compiler does not see it.
@usableFromInline
package enum KnownClass {
  /// An object that is there, and was stored as an instance of this class. A cast would take as long as
  /// several calls.
  @inlinable
  @inline(__always)
  package static func object<Object: AnyObject>(
    _ object: AnyObject?, as type: Object.Type
  ) -> Object {
    // SAFETY: the caller has stored it.
    unsafe unsafeDowncast(object.unsafelyUnwrapped, to: type)
  }

  /// The object that ``SystemQueue/async(_:_:)`` was given, which this releases at its end.
  @safe
  @inlinable
  package static func taken<Object: AnyObject>(
    _ context: UnsafeMutableRawPointer?, as type: Object.Type
  ) -> Object {
    // SAFETY: the queue has retained it.
    unsafe Unmanaged<Object>.fromOpaque(context.unsafelyUnwrapped).takeRetainedValue()
  }
}
