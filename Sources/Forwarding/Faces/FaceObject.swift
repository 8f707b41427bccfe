/// What faces and boxes answer by their identity, where their protocol inherits one of the system's: `Hashable`,
/// `NSObjectProtocol`, `CustomStringConvertible`.
///
/// Faces are written by `@Forwardable`; nothing else needs them.
///
/// ```swift
/// final class Door: FaceObject {}
/// let door = Door()
/// door == door  // true
/// ```
public protocol FaceObject: CustomAnswering {}

extension FaceObject {
  /// Whether both are the same object.
  public static func == (one: Self, other: Self) -> Bool { one === other }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// The number of the object's identity.
  public var hash: Int { ObjectIdentifier(self).hashValue }

  /// Whether another one is the same object.
  public func isEqual(_ object: Any?) -> Bool {
    guard let object, type(of: object) is AnyClass else { return false }
    return object as AnyObject === self
  }

  /// The object itself.
  public func `self`() -> Self { self }

  /// A face answers for itself.
  public func isProxy() -> Bool { false }

  /// The name of the class.
  public var description: String { String(describing: type(of: self)) }
}

extension FaceObject where Self: CustomDebugStringConvertible {
  /// The name of the class, with its module.
  public var debugDescription: String { String(reflecting: type(of: self)) }
}
