import CForwardingShims

// Calls that are answered in place of the receiver, by what need not be a method of anybody.
extension Call {
  /// Performs an implementation, if its types are those of the call.
  package func answer(by method: Implementation) throws {
    if unsafe method.plan.facts == facts { return try perform(method) }
    guard let selector else { throw InvocationError.selectorNotSet }
    try perform(check(method, selector))
  }
}

extension Invocation {
  /// Performs an implementation for an object, and awaits the end, if its types are those of the call.
  package nonisolated(nonsending) func answerAwaiting(
    by method: Implementation, for object: AnyObject
  ) async throws {
    guard let selector else { throw InvocationError.selectorNotSet }
    try await performAwaiting(call.check(method, selector), on: object)
  }
}
