// SPDX-License-Identifier: Apache-2.0
public import Invocations
import Synchronization

/// A registration: of a target with a multicast, or of a handler with an ``InterceptingProxy``.
///
/// ```swift
/// let token = observers.add(screen)
/// observers.targets.count  // 1
/// token.remove()           // true
/// observers.targets.count  // 0
/// ```
///
/// Dropping a token does not end the registration; releasing the object that ``scoped()`` returns does.
/// Neither retains the proxy.
///
/// - Important: A target that is held strongly may be released, and so deinitialized, on the thread
///   that removes it. If its class is not `Sendable`, remove it where it is used.
public struct ForwardingToken: Hashable, Sendable, CustomStringConvertible {
  private static let last = Atomic<UInt64>(0)

  /// A number that no other registration of the process has: a token removes nothing from a proxy
  /// that did not give it.
  static func newID() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }

  let id: UInt64
  /// The key under which the registration is found.
  let target: ObjectIdentifier
  /// The type of the target.
  public let type: SwiftType
  /// A weak reference to the proxy.
  let owner: ObjectReference

  init(id: UInt64, target: ObjectIdentifier, _ type: Any.Type, of owner: ObjectReference) {
    self.id = id
    self.target = target
    self.type = SwiftType(type)
    self.owner = owner
  }

  /// Ends the registration, as `remove(_:)` of the proxy does; false if it ended before.
  @discardableResult
  public func remove() -> Bool { (owner.object as? any TokenOwner)?.remove(self) ?? false }

  /// Returns an object that ends the registration when it is released.
  ///
  /// ```swift
  /// var registration: ScopedToken? = observers.add(screen).scoped()
  /// observers.targets.count  // 1
  /// registration = nil
  /// observers.targets.count  // 0
  /// ```
  ///
  /// The registration ends for all who have added the target under ``DuplicateRule/ignore``, whose
  /// token is the same.
  public func scoped() -> ScopedToken { ScopedToken(self) }

  public static func == (one: Self, other: Self) -> Bool { one.id == other.id }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// The type of the target, and the number of the registration.
  public var description: String { "\(type) #\(id)" }
}

/// A registration that ends with this object; see ``ForwardingToken/scoped()``.
///
/// ```swift
/// let registration = observers.add(screen).scoped()
/// observers.contains(screen)  // true
/// withExtendedLifetime(registration) {}
/// ```
public final class ScopedToken: Sendable {
  /// The token of the registration.
  package let token: ForwardingToken

  init(_ token: ForwardingToken) { self.token = token }

  deinit { token.remove() }
}

/// An object whose registrations have tokens.
protocol TokenOwner: AnyObject {
  @discardableResult
  func remove(_ token: ForwardingToken) -> Bool
}
