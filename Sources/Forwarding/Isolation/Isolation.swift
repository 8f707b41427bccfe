import Dispatch

/// Checks whether a method may run in the sender's isolation domain.
enum Isolation {
  private static let mainQueue = QueueMark.of(.main)

  static let main: Implementation.IsolationCheck = { _, selector in
    if isMain { return }
    throw refusal(selector)
  }

  /// Whether the caller runs on the main actor. The main queue may be served by a thread other than
  /// the first one.
  private static var isMain: Bool {
    mainQueue.isCurrent || CurrentExecutor.isThat(of: MainActor.shared)
  }

  /// Whether the caller may occupy an actor, which is blocked while its thread waits: in a task, or
  /// on the main actor.
  static var mayHoldActor: Bool { CurrentExecutor.isInTask || isMain }

  static let receiver: Implementation.IsolationCheck = { receiver, selector in
    if let actor = receiver as? any Actor, CurrentExecutor.isThat(of: actor) { return }
    throw refusal(selector)
  }

  /// Throws an error if the caller does not run on a global actor.
  ///
  /// - Throws: ``ForwardingError/wrongIsolation(_:)``.
  static func check(that actor: any Actor, _ selector: Selector) throws {
    if actor is MainActor { return try main(nil, selector) }
    if !CurrentExecutor.isThat(of: actor) { throw refusal(selector) }
  }

  private static func refusal(_ selector: Selector?) -> any Error {
    selector.map { ForwardingError.wrongIsolation($0) } ?? InvocationError.selectorNotSet
  }
}
