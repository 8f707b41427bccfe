// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// Where a proxy has a requirement, and what a delivery needs to know of it.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let site = ProxySite<Bool>(0, hasOtherwise: true) { $0 && $1 }
/// ```
@_documentation(visibility: internal)
@frozen
public struct ProxySite<Result> {
  /// Where the tables of a target have that of the protocol.
  @usableFromInline package let place: Int
  @usableFromInline package let isOptional: Bool
  /// Whether the protocol says what the sender gets where no target answers.
  @usableFromInline package let hasOtherwise: Bool
  /// Makes one answer of two; nil if the list's rule says which one counts.
  @usableFromInline package let combine: ((Result, Result) -> Result)?

  @inlinable
  public init(
    _ place: Int, isOptional: Bool = false, hasOtherwise: Bool = false,
    combine: ((Result, Result) -> Result)? = nil
  ) {
    self.place = place
    self.isOptional = isOptional
    self.hasOtherwise = hasOtherwise
    self.combine = combine
  }
}

/// A turn of a delivery that is more than a call.
@safe
@frozen
@usableFromInline
struct ProxyTurn {
  // SAFETY: a local variable of the delivering function, which keeps the list and its members.

  @usableFromInline let targets: ProxyTargets
  @usableFromInline let place: Int
  @usableFromInline let isOptional: Bool
  @usableFromInline let hasOtherwise: Bool
  @usableFromInline let thread: UnsafeMutablePointer<FWDThread>?
  /// The member whose turn it is.
  @usableFromInline let member: UnsafePointer<UnsafeRawPointer>

  @inlinable @unsafe
  init<Result>(
    _ site: ProxySite<Result>, _ targets: ProxyTargets, _ round: FWDDirectRound,
    at member: UnsafePointer<UnsafeRawPointer>
  ) {
    self.targets = targets
    place = site.place
    isOptional = site.isOptional
    hasOtherwise = site.hasOtherwise
    unsafe thread = round.thread
    unsafe self.member = member
  }
}
