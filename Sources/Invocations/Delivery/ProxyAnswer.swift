// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// What became of a proxy's requirement.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let answer = ProxyAnswer.answered(5)
/// if case .answered(let number) = answer { print(number) }  // 5
/// ```
@_documentation(visibility: internal)
@frozen
public enum ProxyAnswer<Result> {
  case answered(Result)
  /// No target answered. A sender that can throw throws the error, if there is one.
  case unanswered((any Error)?)
  /// A target threw, or the message could not be delivered. A sender that cannot throw the error
  /// gets the answer of another target, if there is one.
  case failed(any Error, Result?)

  /// Nothing, where that is the result of the requirement.
  @inlinable
  @inline(__always)
  package static var nothing: Result? { Result.self == Void.self ? () as? Result : nil }

  /// - Parameter result: the answer that counts; nil if no target has answered.
  @inlinable
  package init(_ verdict: Verdict, _ result: Result?) {
    switch verdict {
    case .answered:
      // A requirement without a result needs no answer.
      self = (result ?? Self.nothing).map { .answered($0) } ?? .unanswered(nil)
    case .unanswered(let error): self = .unanswered(error)
    case .failed(let error): self = .failed(error, result)
    }
  }
}

/// The answers of a delivery, as one.
@safe
@frozen
@usableFromInline
package struct ProxyAnswers<Result> {
  // SAFETY: a variable of the delivery, which keeps the list.
  @usableFromInline package private(set) var result: Result?
  /// The target of the last answer.
  @usableFromInline private(set) var last: MemberPlace?

  @inlinable
  package init() {}

  /// Adds the answer of a target: makes one of it and those before, or overrules them.
  @inlinable @unsafe
  @inline(__always)
  mutating func add(
    _ answer: Result, of place: MemberPlace?, _ site: ProxySite<Result>, _ targets: ProxyTargets,
    _ selector: () -> Selector
  ) {
    let old = result
    result = answer
    if let old {
      if let combine = site.combine {
        result = combine(old, answer)
      } else if site.facts.hasResult, targets.tellsUnanswered {
        unsafe Self.overrule(old, by: answer, at: last, targets, selector())
      }
    }
    unsafe last = place
  }

  /// Tells that an answer is overruled by that of a later target, if it is another one.
  @usableFromInline @unsafe
  @inline(never)
  static func overrule(
    _ old: Result, by new: Result, at place: MemberPlace?, _ targets: ProxyTargets,
    _ selector: Selector
  ) {
    func isNew<Value: Equatable>(_ old: Value) -> Bool { old == new as? Value }
    if let old = old as? any Equatable, isNew(old) { return }
    if let place = unsafe place { targets.owner?.overrule(unsafe member(at: place), selector) }
  }
}
