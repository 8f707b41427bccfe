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
  @usableFromInline package let facts: ProxyFacts
  /// Makes one answer of two; nil if the list's rule says which one counts.
  @usableFromInline package let combine: ((Result, Result) -> Result)?

  // Inlined into each requirement, where all of it is constant.
  @inlinable
  @inline(__always)
  public init(
    _ place: Int, isOptional: Bool = false, hasOtherwise: Bool = false,
    throwing: ProxyThrowing = .nothing, combine: ((Result, Result) -> Result)? = nil
  ) {
    self.place = place
    var facts = ProxyFacts()
    if isOptional { facts.insert(.optional) }
    if hasOtherwise { facts.insert(.otherwise) }
    if Result.self != Void.self { facts.insert(.result) }
    if combine != nil { facts.insert(.combined) }
    switch throwing {
    case .nothing: break
    case .some: facts.insert(.throwsSome)
    case .any: facts.insert(.throwsAny)
    }
    self.facts = facts
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
///
/// One set for all: the compiler folds the constants of a ``ProxySite`` with no more than six fields.
@frozen
@usableFromInline
package struct ProxyFacts: OptionSet {
  @usableFromInline package let rawValue: UInt

  @inlinable
  @inline(__always)
  package init(rawValue: UInt) { self.rawValue = rawValue }

  /// The class of a target may leave the requirement out.
  @inlinable static var optional: ProxyFacts { ProxyFacts(rawValue: 1) }
  /// The protocol says what the sender gets where no target answers.
  @inlinable static var otherwise: ProxyFacts { ProxyFacts(rawValue: 2) }
  @inlinable static var result: ProxyFacts { ProxyFacts(rawValue: 4) }
  /// The answers of several targets become one.
  @inlinable static var combined: ProxyFacts { ProxyFacts(rawValue: 8) }
  @inlinable static var throwsSome: ProxyFacts { ProxyFacts(rawValue: 16) }
  @inlinable static var throwsAny: ProxyFacts { ProxyFacts(rawValue: 32) }

  @inlinable package var isOptional: Bool { contains(.optional) }
  @inlinable package var hasOtherwise: Bool { contains(.otherwise) }
  @inlinable package var hasResult: Bool { contains(.result) }
  @inlinable package var canThrowAny: Bool { contains(.throwsAny) }
  @inlinable package var cannotThrow: Bool { isDisjoint(with: [.throwsSome, .throwsAny]) }

  /// Whether the rule of a list may let the first answer end a delivery: what is combined is asked of
  /// all targets.
  @inlinable package var mayEndAtFirst: Bool { hasResult && !contains(.combined) }
}

/// A turn of a delivery that is more than a call.
@safe
@frozen
@usableFromInline
struct ProxyTurn {
  // SAFETY: a local variable of the delivering function, which keeps the list and its members.

  @usableFromInline let place: Int
  @usableFromInline let facts: ProxyFacts
  @usableFromInline let targets: ProxyTargets
  @usableFromInline let thread: UnsafeMutablePointer<FWDThread>?
  /// The member whose turn it is.
  @usableFromInline let member: MemberPlace

  @inlinable @unsafe
  init<Result>(
    _ site: ProxySite<Result>, _ targets: ProxyTargets, _ round: FWDDirectRound,
    at member: MemberPlace
  ) {
    place = site.place
    facts = site.facts
    self.targets = targets
    unsafe thread = round.thread
    unsafe self.member = member
  }
}
