// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A target that a proxy calls and awaits.
@safe
@usableFromInline
package struct AwaitedTarget {
  // SAFETY: made for one call, which takes over the reference.
  @usableFromInline let object: UnsafeMutableRawPointer
  @usableFromInline let table: UnsafeRawPointer

  /// Wraps a taken target, and retains it if it is not retained yet. Returns nil if no target was
  /// taken.
  @unsafe
  init?(_ taken: FWDDirectTarget) {
    guard let object = unsafe taken.object, let table = unsafe taken.table else { return nil }
    unsafe self.object = taken.retained ?? swift_retain(object)
    unsafe self.table = table
  }

  /// The identity of the object.
  var identity: ObjectIdentifier {
    unsafe unsafeBitCast(object, to: ObjectIdentifier.self)
  }

  /// Moves out the target and its reference. Call it once.
  @inlinable
  package func take<Target>(as type: Target.Type) -> Target {
    // SAFETY: a value of a protocol for objects is the object and the table.
    var words = unsafe (object, table)
    return unsafe withUnsafeMutableBytes(of: &words) {
      unsafe $0.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: type).move()
    }
  }
}

extension AwaitedTurns {
  /// Moves out the target of the current turn, once; nil if a message is sent instead.
  @inlinable
  package mutating func take<Target>(as type: Target.Type) -> Target? {
    target?.take(as: type)
  }
}
