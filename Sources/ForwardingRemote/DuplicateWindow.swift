import Invocations

/// The calls that came last, so that one which comes again is not performed again.
package final class DuplicateWindow: Sendable {
  enum Finding {
    case new
    /// It is being performed, or its answer is not kept any more.
    case begun
    case answered(RemoteAnswer)
  }

  /// How many calls are known.
  private static let count = 4096
  /// Longer answers are not kept.
  private static let bytes = 1024

  private struct State {
    var known: [RemoteRequest.Key: RemoteAnswer?] = [:]
    /// A ring of the same keys.
    var order: [RemoteRequest.Key] = []
    var next = 0
  }

  private let state = Guarded(State())

  package init() {}

  /// Says whether a call came before, and notes it.
  func look(_ key: RemoteRequest.Key) -> Finding {
    return state.withLockInPlace { state in
      if let known = state.known[key] { return known.map { .answered($0) } ?? .begun }
      state.known[key] = .some(nil)
      if state.order.count < Self.count {
        state.order.append(key)
      } else {
        state.known[state.order[state.next]] = nil
        state.order[state.next] = key
        state.next = (state.next + 1) % Self.count
      }
      return .new
    }
  }

  /// Keeps the answer to a call.
  func keep(_ answer: RemoteAnswer, for key: RemoteRequest.Key) {
    guard answer.body.count <= Self.bytes else { return }
    state.withLockInPlace { state in
      if state.known[key] != nil { state.known[key] = .some(answer) }
    }
  }
}
