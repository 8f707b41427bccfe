// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The untyped proxy, which owns the targets of a proxy.
@safe
@usableFromInline
final class ProxyOwner: Sendable {
  // SAFETY: the proxy retains the untyped one while it retains this object.
  private nonisolated(unsafe) unowned(unsafe) let owner: any TargetListOwner

  init(_ owner: any TargetListOwner) { unsafe self.owner = owner }

  var untyped: any TargetListOwner { unsafe owner }
}

/// The targets that a proxy calls directly, through their witness tables. Takes three words in each
/// proxy.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// MemoryLayout<ProxyTargets>.size  // 24
/// ```
@_documentation(visibility: internal)
@safe
@frozen
public struct ProxyTargets: @unchecked Sendable {
  // SAFETY: the proxy, or the multicast, retains the untyped proxy that owns the list. Types are never freed.
  @usableFromInline let list: UnsafeRawPointer?
  @usableFromInline let proxy: UnsafeRawPointer
  @usableFromInline let owner: ProxyOwner?

  /// Whether the proxy has a list of targets.
  @inlinable package var areListed: Bool { unsafe list != nil }

  /// Wraps the list of a proxy that passes every message on to its targets. The list is nil if the
  /// proxy may do something else.
  ///
  /// - Parameter proxy: the class of the proxy, or the type of the targets where there is no proxy.
  package init(_ list: TargetList?, of owner: (any TargetListOwner)?, for proxy: Any.Type) {
    unsafe self.list = list.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    self.owner = owner.map { ProxyOwner($0) }
    unsafe self.proxy = unsafeBitCast(proxy, to: UnsafeRawPointer.self)
  }
}

/// A target that a proxy calls. It is borrowed for the call, without a retain.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let describe = { (target: borrowing ProxyTarget<any CustomStringConvertible>) in
///   target.value.description
/// }
/// ```
@_documentation(visibility: internal)
@frozen
public struct ProxyTarget<Value>: ~Copyable {
  /// The target.
  public let value: Value
}
