// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// Answers calls in place of the receiver, with an implementation that need not be a registered
// method.
extension Call {
  /// Performs an implementation.
  ///
  /// - Throws: ``InvocationError`` if its types differ from those of the call, or the error of the
  ///   implementation.
  package func answer(by method: Implementation) throws {
    if unsafe method.plan.facts == facts { return try perform(method) }
    guard let selector else { throw InvocationError.selectorNotSet }
    try perform(check(method, selector))
  }

  /// Performs a method of an object, which the caller retains. The old target is restored on
  /// return.
  package func perform(_ method: Implementation, on object: AnyObject) throws {
    let slot = slot(0)
    let word = slot.word
    slot.object = object
    defer { slot.word = word }
    try lendingTarget { try perform(method) }
  }
}

extension Invocation {
  /// Performs an implementation with an object as the receiver, and awaits its end.
  ///
  /// - Throws: ``InvocationError`` if its types differ from those of the call, or the error of the
  ///   implementation.
  package nonisolated(nonsending) func answerAwaiting(
    by method: Implementation, for object: AnyObject
  ) async throws {
    guard let selector else { throw InvocationError.selectorNotSet }
    try await performAwaiting(call.check(method, selector), on: object)
  }
}
