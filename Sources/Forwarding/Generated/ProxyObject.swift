// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// Implements `Hashable`, `NSObjectProtocol` and `CustomStringConvertible` by identity, for proxies
/// and boxes whose protocol inherits one of them.
@_documentation(visibility: internal)
public protocol _ProxyObject: CustomAnswering {}

extension _ProxyObject {
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

  /// Returns false: a proxy implements these methods for itself.
  public func isProxy() -> Bool { false }

  /// The name of the class.
  public var description: String { String(describing: type(of: self)) }
}

extension _ProxyObject where Self: CustomDebugStringConvertible {
  /// The name of the class, with its module.
  public var debugDescription: String { String(reflecting: type(of: self)) }
}

/// What the members of a proxy need of it: the extension of its protocol has them, for the proxy and for those
/// of inheriting protocols. Its conformance belongs to no actor, as a protocol that inherits `Sendable` takes
/// no member of an extension for a conformance that does.
@_documentation(visibility: internal)
public protocol _ProxySender: _ProxyObject {
  /// The destination of the proxy's messages.
  nonisolated var __forwarder: _ProxyForwarder { get }

  /// The index of a protocol's table among the tables of a target: 0 for the protocol of this proxy,
  /// greater for those that it inherits. The number of all tables for a protocol that the proxy does not
  /// know: its requirements are messages.
  nonisolated static func __place(of proxy: AnyClass) -> Int

  /// The number of the inherited protocols, plus one for the proxy's own.
  nonisolated static var __places: Int { get }
}

extension _ProxySender {
  /// The proxy of a protocol that inherits none: its only table has the index 0.
  @inlinable
  public nonisolated static func __place(of proxy: AnyClass) -> Int { proxy == self ? 0 : 1 }

  @inlinable
  public nonisolated static var __places: Int { 1 }
}
