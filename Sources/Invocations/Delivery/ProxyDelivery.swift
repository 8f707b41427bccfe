// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A message of a proxy in delivery: to the untyped proxy, or to a target that the proxy does not call
/// directly.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// var delivery = ProxyDelivery(to: MulticastProxy())
/// try _ProxyMessage.send(close, 5, through: &delivery)
/// ```
@_documentation(visibility: internal)
@safe
@frozen
public struct ProxyDelivery {
  // SAFETY: a local variable of the delivering function, which keeps the list and its members.

  /// The proxy; nil for a message to targets.
  @usableFromInline let untyped: AnyObject?
  @usableFromInline let targets: ProxyTargets?
  /// The target; nil for a message to the proxy.
  @usableFromInline var place: MemberPlace?
  /// The number of the message; 0 before there is one.
  @usableFromInline var message: UInt64 = 0
  /// The requirement; nil for a message that is none.
  @usableFromInline let facts: ProxyFacts?
  /// The outcome at the targets that had their turn.
  @usableFromInline var tally = TargetList.Tally()
  /// Whether no target of the proxy answered the message.
  @usableFromInline var isUnanswered = false

  /// Makes a message to a proxy.
  public init(to untyped: AnyObject) { self.init(to: untyped, nil, nil) }

  /// Makes a message to a proxy, or to targets.
  init(to untyped: AnyObject?, _ targets: ProxyTargets?, _ facts: ProxyFacts?) {
    self.untyped = untyped
    self.targets = targets
    unsafe place = nil
    self.facts = facts
  }

  /// Sends a message whose arguments are set. Returns whether the call has an answer.
  @usableFromInline
  @inline(never)
  mutating func send(_ call: Call, _ selector: Selector) throws -> Bool {
    prepare(call)
    guard let place = unsafe place else {
      do {
        try call.send(compared: selector, to: untyped)
      } catch {
        isUnanswered = UnansweredMessages.take(call, error)
        throw error
      }
      return true
    }
    let before = tally.answered
    call.setSelector(selector)
    call.isTargetLent = true
    if unsafe !sendQuickly(call, to: place) {
      targets?.owner?.deliver(call, to: unsafe member(at: place), &tally)
    }
    return tally.answered > before
  }

  /// Sends a message whose arguments are set, and awaits the answer. Returns whether the invocation has
  /// an answer.
  package nonisolated(nonsending) mutating func sendAwaiting(
    _ invocation: Invocation
  ) async throws -> Bool {
    prepare(invocation.call)
    guard let place = unsafe place else {
      guard let untyped else { return false }
      do {
        try await invocation.sendAwaiting(to: untyped)
      } catch {
        isUnanswered = UnansweredMessages.take(invocation.call, error)
        throw error
      }
      return true
    }
    let before = tally.answered
    await targets?.owner?.deliverAwaiting(
      invocation, to: unsafe member(at: place), &tally)
    return tally.answered > before
  }

  private func prepare(_ call: Call) {
    unsafe call.state.pointee.message = message
    guard let facts else { return }
    unsafe call.state.pointee.has_otherwise = facts.hasOtherwise ? 1 : 0
    unsafe call.state.pointee.is_uncancelled = facts.canThrowAny ? 0 : 1
    unsafe call.state.pointee.cannot_throw = facts.cannotThrow ? 1 : 0
  }

  /// Performs the method that the class of a directly callable target is known to have. Returns
  /// false, and performs nothing, in other cases.
  private mutating func sendQuickly(_ call: Call, to place: MemberPlace) -> Bool {
    switch unsafe call.perform(at: place, UInt64(call.selectorWord)) {
    case .answered: tally.answered += 1
    case .failed(let error): tally.fail(error, at: unsafe member(at: place))
    case .unknown, .skipped: return false
    }
    return true
  }

  /// What the sender gets if the proxy has ended the message with an error.
  func verdict(of error: any Error) -> Verdict {
    isUnanswered || error is NotImplemented ? .unanswered(error) : .failed(error)
  }

  /// Refuses a requirement that cannot be a message, for a target that takes messages: throws `error`,
  /// unless the target does not get this message either.
  package mutating func refuse(_ error: (ListedTarget?) -> any Error) throws {
    guard let place = unsafe place else { throw error(nil) }
    let member = unsafe member(at: place)
    if member.isRemoved || member.isBlocked { return }
    if !member.isAlive {
      tally.metDead = true
      return
    }
    // A target that was added for its selectors has no method for a requirement without a
    // message. A proxy would have passed a message on.
    let isStranger = member.witnesses == nil && !(member.type is any MessageForwarding.Type)
    if !isStranger { throw error(member) }
  }
}
