// SPDX-License-Identifier: Apache-2.0
import Invocations

// The outcome for the sender when no target has answered.
extension MulticastProxy {
  /// Decides what the sender gets when no target has answered.
  func answerIfNobodyDid(_ tally: TargetList.Tally, _ call: Call) throws {
    guard tally.answered == 0 else { return }
    let error = errorIfNobodyAnswered(
      call.selector, tally, returnsValue: call.returnsValue,
      hasOtherwise: UnansweredMessages.hasOtherwise(call))
    if let error {
      UnansweredMessages.note(call)
      throw error
    }
    // A message that is queued for targets whose results are ignored is answered, too.
    if tally.hasQueued || whenNobodyAnswers == .zero { call.answerWithZero() }
  }

  /// The error for the sender when no target has answered; nil if it needs no answer. Diagnoses it.
  ///
  /// - Parameter hasOtherwise: whether the face answers the error. Without a result it throws
  ///   another one, so that a message in a queue is no answer: a guard fails closed.
  private func errorIfNobodyAnswered(
    _ selector: Selector?, _ tally: TargetList.Tally, returnsValue: Bool, hasOtherwise: Bool
  ) -> ForwardingError? {
    let isGuard = hasOtherwise && !returnsValue
    if tally.hasQueued, !isGuard { return nil }
    let rule = whenNobodyAnswers
    let isError = rule == .throw || rule == .throwForResults && (returnsValue || isGuard)
    // The error ends at the face that answers.
    if let selector, !isError || !hasOtherwise { diagnoseUnanswered(selector, isError: isError) }
    return isError ? .nobodyAnswered(selector) : nil
  }

  package func answerNothing(
    _ selector: Selector, hasOtherwise: Bool, for tally: TargetList.Tally
  ) throws {
    let error = errorIfNobodyAnswered(
      selector, tally, returnsValue: false, hasOtherwise: hasOtherwise)
    if let error { throw error }
  }
}
