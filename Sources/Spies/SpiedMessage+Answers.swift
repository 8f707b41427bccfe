import Forwarding
import Invocations

// What a spy answers. Of several answers for a call, the newest one that is for it counts.
extension SpiedMessage {
  /// Answers with what a closure gives. `times` calls get it; older answers are for those that follow.
  public func answer(
    times: Int = .max, _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) {
    add([step(body)], times)
  }

  /// Answers with an error.
  public func answer(times: Int = .max, throwing error: some Error) {
    add([step { (_: repeat each Argument) in throw error }], times)
  }

  /// Lets the object behind the spy answer; without one, leaves calls without an answer.
  public func answerForReal(times: Int = .max) { add([.real], times) }

  /// Acts as a class that left an optional requirement out.
  public func leaveOut() { add([.leftOut], .max) }

  /// The same, whose answers come later. Only who awaits them can do something else meanwhile.
  public func delayed(by delay: Duration) -> SpiedMessage {
    var copy = self
    copy.delay = delay
    return copy
  }

  /// Lets a strict spy take calls without an answer.
  public func allow() { spy.tell(selector) { $0.isAllowed = true } }

  func add(_ steps: [SpyRule.Step?], _ times: Int) {
    let steps = steps.compactMap { $0 }
    guard !steps.isEmpty else { return }
    let rule = SpyRule(matches, steps, delay: delay, limit: times)
    spy.tell(selector) { $0.rules.append(rule) }
  }

  /// nil where the types of the message cannot be passed, which its face says at each call.
  func step(
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) -> SpyRule.Step? {
    (try? Implementation.ofAnyTypes(encoding: nil, body)).map { .body($0) }
  }
}

extension SpiedMessage where Result: Sendable {
  /// Answers with a value.
  public func answer(times: Int = .max, with value: Result) {
    add([step { (_: repeat each Argument) in value }], times)
  }

  /// Answers with one value after the other; the last one stays.
  public func answer(inTurn first: Result, _ rest: Result...) {
    answer(inTurn: ([first] + rest).map { .success($0) })
  }

  /// Answers with one value or error after the other; the last one stays. An empty list changes nothing.
  public func answer(inTurn results: [Swift.Result<Result, any Error>]) {
    add(results.map { result in step { (_: repeat each Argument) in try result.get() } }, .max)
  }
}
