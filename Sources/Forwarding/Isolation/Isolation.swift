import Dispatch

/// Whether methods may run where they are sent.
enum Isolation {
  private static let mainQueue = QueueMark.of(.main)

  static let main: Implementation.IsolationCheck = { _, selector in
    // The main queue may be served by another thread than the first one.
    if mainQueue.isCurrent || CurrentExecutor.isThat(of: MainActor.shared) { return }
    throw refusal(selector)
  }

  static let receiver: Implementation.IsolationCheck = { receiver, selector in
    if let actor = receiver as? any Actor, CurrentExecutor.isThat(of: actor) { return }
    throw refusal(selector)
  }

  /// Throws where a global actor is not the one that runs.
  static func check(that actor: any Actor, _ selector: Selector) throws {
    if actor is MainActor { return try main(nil, selector) }
    if !CurrentExecutor.isThat(of: actor) { throw refusal(selector) }
  }

  private static func refusal(_ selector: Selector?) -> any Error {
    selector.map { ForwardingError.wrongIsolation($0) } ?? InvocationError.selectorNotSet
  }
}
