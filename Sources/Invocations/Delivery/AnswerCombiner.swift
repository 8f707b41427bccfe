// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How the answers of several targets to a message become one, as the protocol of the message says.
///
/// A proxy knows that of its own requirements. A proxy behind it gets a message, and finds it here.
package struct AnswerCombiner: Sendable {
  private static let known = Guarded<[Selector: [AnswerCombiner]]>([:])

  /// The proxy of the protocol.
  package let proxy: AnyClass
  private let plan: CallPlan
  /// Takes the answer of a call, and makes one of it and those before.
  package let add: @Sendable (_ before: Any?, Call) throws -> Any
  /// Makes an answer that of a call.
  package let set: @Sendable (Any, Call) throws -> Void

  /// Notes what a protocol says of a message.
  package static func note<Result>(
    _ combine: @escaping @Sendable (Result, Result) -> Result, for selector: Selector,
    _ message: PreparedMessage, of proxy: AnyClass
  ) {
    let combiner = AnswerCombiner(proxy: proxy, plan: message.plan) { before, call in
      let answer = try call.takeFittingAnswer(as: Result.self, message.result)
      return (before as? Result).map { combine($0, answer) } ?? answer
    } set: { answer, call in
      guard let answer = answer as? Result else { return }
      try call.withInvocation { try $0.setResult(answer) }
    }
    known.withLockInPlace { known in
      // Threads that make one requirement at the same time note it twice.
      let isNoted = known[selector]?.contains { $0.proxy == proxy && $0.plan === combiner.plan }
      if isNoted != true { known[selector, default: []].append(combiner) }
    }
    message.plan.isCombined.store(true, ordering: .relaxed)
  }

  /// What the protocols with a message say; most say nothing.
  package static func all(of call: Call, _ selector: Selector) -> [AnswerCombiner] {
    let plan = call.plan
    guard plan.isCombined.load(ordering: .relaxed) else { return [] }
    return (known.read { $0[selector] } ?? []).filter { $0.plan === plan }
  }
}
