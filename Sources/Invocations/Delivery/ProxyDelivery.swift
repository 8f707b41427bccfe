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

  /// The proxy, unless the message goes to a target.
  @usableFromInline let untyped: AnyObject?
  @usableFromInline let owner: ProxyOwner?
  /// The target; nil for a message to the proxy.
  @usableFromInline var place: UnsafePointer<UnsafeRawPointer>?
  /// The number of the message; 0 before there is one.
  @usableFromInline var message: UInt64 = 0
  /// Whether the proxy has an answer where no target has one.
  @usableFromInline var hasOtherwise = false
  /// The outcome at the targets that had their turn.
  @usableFromInline var tally = TargetList.Tally()
  /// Whether no target of the proxy answered the message.
  @usableFromInline var isUnanswered = false

  /// Makes a message to a proxy.
  public init(to untyped: AnyObject) {
    self.untyped = untyped
    owner = nil
    unsafe place = nil
  }

  /// Makes a message to targets.
  init(to targets: ProxyTargets) {
    untyped = nil
    owner = targets.owner
    unsafe place = nil
  }

  /// Sends a message whose arguments are set. Returns whether the call has an answer.
  @usableFromInline
  @inline(never)
  mutating func send(_ call: Call, _ selector: Selector) throws -> Bool {
    unsafe call.state.pointee.message = message
    unsafe call.state.pointee.has_otherwise = hasOtherwise ? 1 : 0
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
      owner?.untyped.deliver(call, to: unsafe member(at: place), &tally)
    }
    return tally.answered > before
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
}
