// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// Checks whether a method may run in the sender's isolation domain.
enum Isolation {
  private static let mainQueue = QueueMark.of(.main)

  /// The check of methods of the main actor.
  ///
  /// - Parameter goesThere: whether a message that is awaited goes to the actor.
  static func main(goesThere: Bool) -> Implementation.IsolationCheck {
    { receiver, selector, hasResult in
      if isMain { return }
      throw refusal(
        selector, of: receiver, IsolationRemedy(hasResult: hasResult, goesThere: goesThere))
    }
  }

  /// Whether the caller runs on the main actor. The main queue may be served by a thread other than
  /// the first one.
  private static var isMain: Bool {
    mainQueue.isCurrent || CurrentExecutor.isThat(of: MainActor.shared)
  }

  /// Whether the caller may occupy an actor, which is blocked while its thread waits: in a task, or
  /// on the main actor.
  static var mayHoldActor: Bool { CurrentExecutor.isInTask || isMain }

  static let receiver: Implementation.IsolationCheck = { receiver, selector, hasResult in
    if let actor = receiver as? any Actor, CurrentExecutor.isThat(of: actor) { return }
    throw refusal(selector, of: receiver, IsolationRemedy(hasResult: hasResult, goesThere: true))
  }

  /// Throws where a global actor is not the one that runs.
  static func check(
    that actor: any Actor, _ context: ForwardingError.Context, _ remedy: IsolationRemedy
  ) throws {
    if actor is MainActor ? !isMain : !CurrentExecutor.isThat(of: actor) {
      throw ForwardingError.wrongIsolation(context, remedy)
    }
  }

  private static func refusal(
    _ selector: Selector?, of receiver: AnyObject?, _ remedy: IsolationRemedy
  ) -> ForwardingError {
    .wrongIsolation(.init(selector: selector, target: receiver.map { type(of: $0) }), remedy)
  }
}
