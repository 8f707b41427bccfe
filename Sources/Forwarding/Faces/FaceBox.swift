// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// An object that stands in for a value among the targets of a face. It conforms to the protocol,
/// and calls the value.
///
/// Only the code that `@Forwardable` writes needs it.
///
/// ```swift
/// final class Seven: FaceBox {
///   let __value: Any = 7
/// }
/// let box = Seven()
/// box.__value as? Int  // 7
/// ```
@_documentation(visibility: internal)
public protocol FaceBox: FaceObject, ManyTargets {
  /// The existential type of the protocol.
  associatedtype __Value

  /// The current value.
  var __value: __Value { get }

  /// Stores the value after a call has mutated it.
  func __keep(_ value: __Value)
}

extension FaceBox {
  /// Does nothing: no requirement can mutate the value.
  public func __keep(_ value: __Value) {}

  /// Stores a copy after a call that can have mutated it, which is of the type of the value: a mutating
  /// method does not change it.
  public func __keep<Copy>(copy: inout Copy) { __keep(copy as! __Value) }

  public var __targetType: Any.Type { type(of: __value as Any) }
}

/// The value of a box whose calls can mutate it.
///
/// A call works on a copy of the value, and stores the copy when it ends. Calls on different
/// threads never share a copy. Of two concurrent calls that mutate the value, the change of the
/// later end is retained, and the other is lost.
///
/// ```swift
/// let count = BoxedValue(1)
/// count.value += 1
/// count.value  // 2
/// ```
@_documentation(visibility: internal)
public final class BoxedValue<Value>: @unchecked Sendable {
  // SAFETY: `Guarded` has a lock. The protocol of the box decides whether threads may share the
  // value.
  private let stored: Guarded<Value>

  /// Creates a box of a value.
  public init(_ value: Value) { stored = Guarded(value) }

  /// The current value.
  public var value: Value {
    get { stored.read { $0 } }
    // The old value is released after the lock: the `deinit` of a part may use the face.
    set { stored.withLock { $0 = newValue } }
  }
}
