// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// The targets that a proxy calls directly, through their witness tables. Takes two words in each
/// proxy.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// MemoryLayout<ProxyTargets>.size  // 16
/// ```
@_documentation(visibility: internal)
@safe
@frozen
public struct ProxyTargets: @unchecked Sendable {
  // SAFETY: the proxy, or the multicast, retains the untyped proxy that owns the list. Types are never freed.
  @usableFromInline let list: Unmanaged<TargetList>?
  @usableFromInline let proxy: UnsafeRawPointer

  /// Whether the proxy has a list of targets.
  @inlinable package var areListed: Bool { unsafe list != nil }

  /// The list, where there is one.
  @inlinable @unsafe var owned: UnsafeMutablePointer<FWDOwnedList> {
    unsafe fwd_owned_list_of(step)
  }

  /// What identifies a delivery of the proxy among the forwarding steps of a thread.
  @inlinable @unsafe var step: UnsafeMutableRawPointer {
    unsafe list.unsafelyUnwrapped.toOpaque()
  }

  /// Whether the owner has something to tell, or to answer, where no target answers.
  @inlinable var tellsUnanswered: Bool {
    unsafe fwd_list_rules(owned) & UInt32(FWD_LIST_TELLS) != 0
  }

  /// Wraps the list of a proxy that passes every message on to its targets. The list is nil if the
  /// proxy may do something else.
  ///
  /// - Parameter proxy: the class of the proxy, or the type of the targets where there is no proxy.
  package init(_ list: TargetList?, for proxy: Any.Type) {
    unsafe self.list = list.map { unsafe .passUnretained($0) }
    unsafe self.proxy = unsafeBitCast(proxy, to: UnsafeRawPointer.self)
  }

  /// The untyped proxy, which owns the list.
  var owner: (any TargetListOwner)? {
    unsafe list.flatMap { unsafe $0._withUnsafeGuaranteedRef { unsafe $0.owner } }
  }

  /// Decides what the sender of a requirement gets.
  func verdict(_ selector: Selector, _ tally: TargetList.Tally, _ facts: ProxyFacts) -> Verdict {
    owner?.verdict(
      selector, tally, returnsValue: facts.hasResult, hasOtherwise: facts.hasOtherwise)
      ?? .unanswered(nil)
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
