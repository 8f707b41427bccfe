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
  @usableFromInline package let facts: ProxyFacts
  /// Makes one answer of two; nil if the list's rule says which one counts.
  @usableFromInline package let combine: ((Result, Result) -> Result)?

  @inlinable
  public init(
    _ place: Int, isOptional: Bool = false, hasOtherwise: Bool = false,
    throwing: ProxyThrowing = .nothing, combine: ((Result, Result) -> Result)? = nil
  ) {
    facts = ProxyFacts(
      place: place, isOptional: isOptional, hasOtherwise: hasOtherwise, throwing: throwing,
      hasResult: Result.self != Void.self, isCombined: combine != nil)
    self.combine = combine
  }
}

/// Which errors the sender of a requirement can throw.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let site = ProxySite<Bool>(0, throwing: .any)
/// ```
@_documentation(visibility: internal)
@frozen
public enum ProxyThrowing {
  case nothing
  /// Those of one type, or of a closure that it is called with.
  case some
  case any
}

/// What a delivery needs to know of a requirement with any type of result.
@frozen
@usableFromInline
package struct ProxyFacts {
  /// Where the tables of a target have that of the protocol.
  @usableFromInline package let place: Int
  @usableFromInline package let isOptional: Bool
  /// Whether the protocol says what the sender gets where no target answers.
  @usableFromInline package let hasOtherwise: Bool
  @usableFromInline package let throwing: ProxyThrowing
  @usableFromInline package let hasResult: Bool
  /// Whether the answers of several targets become one.
  @usableFromInline package let isCombined: Bool

  @inlinable
  init(
    place: Int, isOptional: Bool, hasOtherwise: Bool, throwing: ProxyThrowing, hasResult: Bool,
    isCombined: Bool
  ) {
    self.place = place
    self.isOptional = isOptional
    self.hasOtherwise = hasOtherwise
    self.throwing = throwing
    self.hasResult = hasResult
    self.isCombined = isCombined
  }

  /// Whether the rule of a list may let the first answer end a delivery: what is combined is asked of
  /// all targets.
  @inlinable package var mayEndAtFirst: Bool { hasResult && !isCombined }
}

/// A turn of a delivery that is more than a call.
@safe
@frozen
@usableFromInline
struct ProxyTurn {
  // SAFETY: a local variable of the delivering function, which keeps the list and its members.

  @usableFromInline let facts: ProxyFacts
  @usableFromInline let targets: ProxyTargets
  @usableFromInline let thread: UnsafeMutablePointer<FWDThread>?
  /// The member whose turn it is.
  @usableFromInline let member: MemberPlace

  @inlinable @unsafe
  init(
    _ facts: ProxyFacts, _ targets: ProxyTargets, _ round: FWDDirectRound, at member: MemberPlace
  ) {
    self.facts = facts
    self.targets = targets
    unsafe thread = round.thread
    unsafe self.member = member
  }
}
