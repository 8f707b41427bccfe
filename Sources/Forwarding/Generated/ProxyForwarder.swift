// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// The destination of a proxy's messages: an untyped proxy, and its targets if they may be called
/// directly.
///
/// Only the code that `@Forwardable` writes needs it.
@_documentation(visibility: internal)
@frozen
public struct _ProxyForwarder: Sendable {
  /// The proxy that gets the messages.
  @usableFromInline let untyped: any ForwardingProxy & Sendable
  /// The targets, if the proxy may call them directly.
  @usableFromInline var targets: ProxyTargets

  /// Makes the destination of a proxy's messages.
  ///
  /// A subclass of the proxies in this package may override how messages are handled, so it gets
  /// all of them, and no target is called directly.
  public init(_ untyped: any ForwardingProxy & Sendable, for proxy: AnyClass) {
    self.untyped = untyped
    KnownProxies.add(proxy)
    (untyped as? MulticastProxy)?.noteFront(proxy)
    let isPlain = type(of: untyped) == MulticastProxy.self
    targets = ProxyTargets(isPlain ? (untyped as? MulticastProxy)?.targetList : nil, for: proxy)
  }
}

/// The classes of all proxies that were made.
enum KnownProxies {
  private static let classes = Guarded<[UInt: AnyClass]>([:])

  static func number(_ proxy: AnyClass) -> UInt { UInt(bitPattern: ObjectIdentifier(proxy)) }

  static func add(_ proxy: AnyClass) {
    classes.withLockInPlace { $0[number(proxy)] = proxy }
  }

  static func contain(_ type: AnyClass) -> Bool { classes.read { $0[number(type)] != nil } }

  static func type(_ number: UInt) -> (any GeneratedProxy.Type)? {
    classes.read { $0[number] } as? any GeneratedProxy.Type
  }
}
