// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// Requirements that cannot be messages, at targets that only take messages.
extension FaceDelivery {
  /// Whether all targets had their turn.
  package var isOver: Bool { if case .end = destination { true } else { false } }

  /// Decides the outcome of a requirement without a result that cannot be a message, after no target
  /// has answered.
  ///
  /// - Throws: the error that the rule of the proxy gives the sender.
  package func endWithoutResult(_ selector: Selector) throws {
    let hasOtherwise = message & FWD_OTHERWISE_MESSAGE_BIT != 0
    do {
      let owner = owner?.proxy ?? proxy as? any TargetListOwner
      try owner?.answerNothing(selector, hasOtherwise: hasOtherwise, for: tally)
    } catch {
      // The face throws its own error.
      if hasOtherwise { throw NotImplemented() }
      UnansweredMessages.note(message)
      throw error
    }
  }

  /// The error to throw if a requirement cannot be a message, and no target is called directly.
  package mutating func refusal(_ error: any Error) -> any Error {
    switch destination {
    case .proxy: return error
    case .target(let place):
      let member = unsafe member(at: place)
      if member.isRemoved || member.isBlocked { return NotAnswered.error }
      if !member.isAlive {
        tally.metDead = true
        return NotAnswered.error
      }
      // A target that was added for its selectors has no method for a requirement without a
      // message. A proxy would have passed a message on.
      let isStranger = member.witnesses == nil && !(member.type is any MessageForwarding.Type)
      return isStranger ? NotAnswered.error : error
    case .end: return NotImplemented()
    }
  }
}
