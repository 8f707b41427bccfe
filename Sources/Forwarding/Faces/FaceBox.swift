public import Invocations

/// An object that stands for a value among the targets of a face: it conforms to the protocol, and calls the value.
///
/// Boxes are written by `@Forwardable`; nothing else needs them.
///
/// ```swift
/// final class Seven: FaceBox {
///   let __value: Any = 7
/// }
/// let box = Seven()
/// box.__value as? Int  // 7
/// ```
public protocol FaceBox: FaceObject, ManyTargets {
  /// Any value of the protocol.
  associatedtype __Value

  /// The value as it is now.
  var __value: __Value { get }

  /// Keeps the value as it is after a call that changed it.
  func __keep(_ value: __Value)
}

extension FaceBox {
  /// Nothing changes a value that no requirement can change.
  public func __keep(_ value: __Value) {}
}

/// The value of a box, which calls change.
///
/// A call gets the value as it is, and leaves it as it is then: no two calls have it at once, whatever thread they are
/// on, and of two at a time that change it the later end counts.
///
/// ```swift
/// let count = BoxedValue(1)
/// count.value += 1
/// count.value  // 2
/// ```
public final class BoxedValue<Value>: @unchecked Sendable {
  // SAFETY: under the lock; whether threads may share the value itself, the protocol of the box says.
  private let stored: Guarded<Value>

  /// Keeps a value.
  public init(_ value: Value) { stored = Guarded(value) }

  /// The value.
  public var value: Value {
    get { stored.read { $0 } }
    set { stored.withLockInPlace { $0 = newValue } }
  }
}
