import CForwardingShims

/// A target that a face calls and awaits.
@safe
@usableFromInline
package struct AwaitedTarget {
  // SAFETY: made for one call, which takes the reference.
  @usableFromInline let object: UnsafeMutableRawPointer
  @usableFromInline let table: UnsafeRawPointer

  /// A target that was taken, with a reference of its own; nil if there is none.
  @unsafe
  init?(_ taken: FWDDirectTarget) {
    guard let object = unsafe taken.object, let table = unsafe taken.table else { return nil }
    unsafe self.object = taken.retained ?? swift_retain(object)
    unsafe self.table = table
  }

  /// Tells objects apart.
  var identity: ObjectIdentifier {
    unsafe unsafeBitCast(object, to: ObjectIdentifier.self)
  }

  /// The target with its reference, once.
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
  /// The target whose turn it is, once; nil where a message is sent.
  @inlinable
  package mutating func take<Target>(as type: Target.Type) -> Target? {
    target?.take(as: type)
  }
}
