// Requirements that cannot be messages, where a target takes nothing else.
extension FaceDelivery {
  /// Whether all targets had their turn.
  package var isOver: Bool { if case .end = destination { true } else { false } }

  /// What there is to throw where a requirement cannot be a message, and no target is called.
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
      // One that was added by its selectors has no method for what is no message; a proxy
      // would pass one on.
      let isStranger = member.witnesses == nil && !(member.type is any MessageForwarding.Type)
      return isStranger ? NotAnswered.error : error
    case .end: return NotImplemented()
    }
  }
}
