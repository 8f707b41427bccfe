// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The delivery of one message to the targets of a proxy.
struct Delivery {
  let proxy: MulticastProxy
  let invocation: Invocation
  let selector: Selector
  /// Whether the sender wants a ticket of each queued message.
  var isReported = false

  /// The outcome of one target's turn.
  struct Turn {
    var outcome: DeliveryOutcome
    var ticket: DeliveryTicket?
    /// The invocation that holds the answer; nil without an answer.
    var call: Invocation?
  }

  /// The state at the beginning of a turn: a target and the method of its class, or the outcome if
  /// the turn is already over.
  enum Found {
    case target(AnyObject, Implementation?)
    case over(Turn)
  }

  func find(_ registration: Registration) -> Found {
    if registration.isRemoved { return .over(Turn(outcome: .removed)) }
    if registration.isBlocked { return .over(Turn(outcome: .blocked)) }
    // The target is retained until its turn ends: `responds(to:)` and the method use one reference.
    guard let target = registration.object else { return .over(Turn(outcome: .dead)) }
    registration.markReached()
    do {
      let method = try invocation.call.directMethod(of: target)
      guard try method != nil || ForwardingDepth.responds(target, to: selector) else {
        return .over(Turn(outcome: .noMethod))
      }
      return .target(target, method)
    } catch {
      return .over(Turn(outcome: .failed(error)))
    }
  }

  func turn(of registration: Registration) -> Turn {
    switch find(registration) {
    case .over(let turn): return turn
    case .target(let target, let method):
      return registration.isSpecial
        ? sendSpecially(to: target, method, registration) : sendHere(to: target, method)
    }
  }

  /// Calls a target on this thread.
  ///
  /// A copy of the invocation carries the message wherever a target could modify it: a target that
  /// forwards may change the arguments, and a result must survive the failure of a later target.
  func sendHere(
    to target: AnyObject, _ method: Implementation?
  ) -> Turn {
    let copy = method != nil && !invocation.returnsValue ? invocation : invocation.carryingCopy()
    do {
      if let method {
        try copy.call.perform(method, on: target)
      } else {
        // A target that forwards may retain the copy, and modify it later.
        defer { copy.keepArguments() }
        try copy.send(to: target)
        return Turn(outcome: .answered, call: copy.unsharedAnswer())
      }
      return Turn(outcome: .answered, call: copy)
    } catch {
      return Turn(outcome: DeliveryOutcome(error, of: copy.call))
    }
  }
}

extension DeliveryOutcome {
  /// The outcome of a call that ended with an error. A proxy whose own targets do not answer has no
  /// method either.
  init(_ error: any Error, of call: Call) {
    self = UnansweredMessages.take(call, error) ? .noMethod : .failed(error)
  }
}

extension DeliveryReport {
  mutating func add(
    _ turn: Delivery.Turn, _ token: ForwardingToken, _ answer: () throws -> Answer?
  ) {
    var value: Answer?
    do { value = turn.outcome.isAnswer ? try answer() : nil } catch { unread = unread ?? error }
    entries.append(Entry(token: token, outcome: turn.outcome, answer: value, ticket: turn.ticket))
  }
}
