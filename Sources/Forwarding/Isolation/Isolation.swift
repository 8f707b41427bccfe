import Dispatch

/// Whether methods may run where they are sent.
enum Isolation {
  private static let mainQueue = QueueMark.of(.main)

  static let main: Implementation.IsolationCheck = { _, selector in
    if isMain { return }
    throw refusal(selector)
  }

  /// Whether this is the main actor. The main queue may be served by another thread than the first one.
  private static var isMain: Bool {
    mainQueue.isCurrent || CurrentExecutor.isThat(of: MainActor.shared)
  }

  /// Whether this may be an actor, which does nothing else while its thread waits: the main actor, or a task.
  static var mayHoldActor: Bool { CurrentExecutor.isInTask || isMain }

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
