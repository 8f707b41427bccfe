// SPDX-License-Identifier: Apache-2.0
import Invocations

// What the sender gets.
extension MulticastProxy {
  package func verdict(
    _ selector: Selector, _ tally: TargetList.Tally, returnsValue: Bool, hasOtherwise: Bool
  ) -> Verdict {
    if tally.metDead { purge() }
    diagnose(tally.failures.dropFirst(), of: selector)
    if let error = tally.error { return .failed(error) }
    if tally.answered > 0 { return .answered }
    // Without a result a proxy throws another error instead: a guard fails closed, so that a message in
    // a queue is no answer.
    let isGuard = hasOtherwise && !returnsValue
    if tally.hasQueued, !isGuard { return .answered }
    let rule = whenNobodyAnswers
    let isError = rule == .throw || rule == .throwForResults && (returnsValue || isGuard)
    // The error ends at the proxy that answers.
    if !isError || !hasOtherwise { diagnoseUnanswered(selector, isError: isError) }
    guard isError else { return .answered }
    return .unanswered(
      targetList.isOfOne && isEmpty
        ? ForwardingError.targetGone(selector) : ForwardingError.nobodyAnswered(selector))
  }

  package func overrule(_ member: ListedTarget, _ selector: Selector) {
    tellListener(.overruled(token(of: member), selector))
  }

  /// Gives a sender what the verdict says.
  @inline(never)
  func conclude(_ call: Call, _ selector: Selector, _ tally: TargetList.Tally) throws {
    let verdict = verdict(
      selector, tally, returnsValue: call.returnsValue,
      hasOtherwise: UnansweredMessages.hasOtherwise(call))
    switch verdict {
    case .answered:
      // A message that is queued for targets whose results are ignored is answered, too.
      if tally.answered == 0 { call.answerWithZero() }
    case .failed(let error):
      guard tally.answered > 0, UnansweredMessages.cannotThrow(call) else { throw error }
      diagnose(.unheard(selector, error))
    case .unanswered(let error):
      UnansweredMessages.note(call)
      if let error { throw error }
    }
  }
}
