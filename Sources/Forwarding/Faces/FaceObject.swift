// SPDX-License-Identifier: Apache-2.0
/// Implements `Hashable`, `NSObjectProtocol` and `CustomStringConvertible` by identity, for faces
/// and boxes whose protocol inherits one of them.
///
/// Only the code that `@Forwardable` writes needs it.
///
/// ```swift
/// final class Door: FaceObject {}
/// let door = Door()
/// door == door  // true
/// ```
@_documentation(visibility: internal)
public protocol FaceObject: CustomAnswering {}

extension FaceObject {
  /// Whether both are the same object.
  public static func == (one: Self, other: Self) -> Bool { one === other }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// The hash value of the object's identity.
  public var hash: Int { ObjectIdentifier(self).hashValue }

  /// Whether the other value is the same object.
  public func isEqual(_ object: Any?) -> Bool {
    guard let object, type(of: object) is AnyClass else { return false }
    return object as AnyObject === self
  }

  /// Returns the object itself.
  public func `self`() -> Self { self }

  /// Returns false: a face implements these methods for itself.
  public func isProxy() -> Bool { false }

  /// The name of the class.
  public var description: String { String(describing: type(of: self)) }
}

extension FaceObject where Self: CustomDebugStringConvertible {
  /// The name of the class, with its module.
  public var debugDescription: String { String(reflecting: type(of: self)) }
}
