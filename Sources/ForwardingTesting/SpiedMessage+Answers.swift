// SPDX-License-Identifier: Apache-2.0
import Forwarding
public import Invocations

// The answers of a spy. If several answers match a call, the newest one is used.
//
// They are inlinable, so that the compiler knows the types of a closure when it compiles the
// reading of the arguments.
extension SpiedMessage {
  /// Answers with the result of a closure. The answer is used for `times` calls; after that, older
  /// answers are used again.
  @inlinable
  public func answer(
    times: Int = .max, _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) {
    add([answering(body)], times)
  }

  /// Answers an `async` requirement with the result of a closure that may suspend. The closure runs
  /// on the actor of the caller.
  ///
  /// It takes the spy in front of the arguments, because Swift 6.3 cannot compile a suspending
  /// closure whose parameters are a parameter pack alone.
  public func answer(
    times: Int = .max,
    awaiting body:
      nonisolated(nonsending) @escaping @Sendable (
        SpyProxy, repeat each Argument
      ) async throws -> Result
  ) {
    add([(try? Implementation(asyncMethod: body)).map { .body($0) }], times)
  }

  /// Answers with an error.
  @inlinable
  public func answer(times: Int = .max, throwing error: some Error) {
    add([answering { (_: repeat each Argument) in throw error }], times)
  }

  /// Forwards calls to the object behind the spy. Without such an object, calls have no answer.
  public func answerForReal(times: Int = .max) { add([.real], times) }

  /// Acts like a class that does not implement this optional requirement.
  public func leaveOut() { add([.leftOut], .max) }

  /// A step is nil if the message has types that cannot be passed. Its proxy reports that at each
  /// call.
  @usableFromInline
  func add(_ steps: [SpyRule.Step?], _ times: Int) {
    let steps = steps.compactMap { $0 }
    guard !steps.isEmpty else { return }
    let rule = SpyRule(step.matches, steps, limit: times)
    step.spy.tell(selector) { $0.rules.append(rule) }
  }

  @inlinable
  func answering(
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) -> SpyRule.Step? {
    (try? Implementation.ofAnyTypes(body)).map { .body($0) }
  }
}

extension SpiedMessage where Result: Sendable {
  /// Answers with a value.
  @inlinable
  public func answer(times: Int = .max, with value: Result) {
    add([answering { (_: repeat each Argument) in value }], times)
  }

  /// Answers with these values in turn; the last one is repeated.
  @inlinable
  public func answer(inTurn first: Result, _ rest: Result...) {
    answer(inTurn: ([first] + rest).map { .success($0) })
  }

  /// Answers with these values or errors in turn; the last one is repeated. An empty list changes
  /// nothing.
  @inlinable
  public func answer(inTurn results: [Swift.Result<Result, any Error>]) {
    add(results.map { result in answering { (_: repeat each Argument) in try result.get() } }, .max)
  }
}
