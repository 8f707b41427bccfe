// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// Makes values of a type of targets from an object and a witness table.
@usableFromInline
enum DirectValue {
  /// In place of a table: a class has none, and a value in a box needs none. 0 stands for a table that
  /// was withdrawn.
  @usableFromInline static var ofClass: UInt { 1 }
  @usableFromInline static var inBox: UInt { 2 }

  /// The words of a value of a protocol that structures may have, too: three for the value, its type and
  /// the table.
  @usableFromInline static var openWords: Int { 5 }

  /// Makes the value of a target, whose object is not nil. It takes over the reference to the object if
  /// that is retained.
  @inlinable @unsafe
  @inline(__always)
  static func make<Value>(of taken: FWDDirectTarget, _ object: UnsafeMutableRawPointer) -> Value {
    let table = unsafe UInt(bitPattern: taken.table)
    // A box is never retained: the list holds it strongly.
    if table == inBox {
      return unsafe Unmanaged<ValueBox<Value>>.fromOpaque(object)._withUnsafeGuaranteedRef {
        $0.value
      }
    }
    var words = unsafe (object, table, UInt(0), UInt(0), UInt(0))
    if MemoryLayout<Value>.size == openWords * MemoryLayout<UInt>.size {
      let type = unsafe Unmanaged<AnyObject>.fromOpaque(object)._withUnsafeGuaranteedRef {
        UInt(bitPattern: ObjectIdentifier(Swift.type(of: $0)))
      }
      unsafe words = (object, 0, 0, type, table)
    }
    return unsafe withUnsafeMutablePointer(to: &words) { words in
      // SAFETY: the record of the target says that its values consist of these words.
      let value = unsafe UnsafeMutableRawPointer(words).assumingMemoryBound(to: Value.self)
      return unsafe taken.retained == nil ? value.pointee : value.move()
    }
  }
}

/// Holds a target that is not an object.
@usableFromInline
package final class ValueBox<Value>: ManyTargets {
  @usableFromInline let value: Value

  package init(_ value: Value) { self.value = value }

  @usableFromInline package var __targetType: Any.Type { type(of: value as Any) }
}
