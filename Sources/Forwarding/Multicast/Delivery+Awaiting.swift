// SPDX-License-Identifier: Apache-2.0
import Invocations

// The two drivers of an awaited walk over the targets of a message.
extension Delivery {
  /// Runs one turn after the other.
  nonisolated(nonsending) func runAwaiting(
    _ walk: inout AwaitedWalk, _ tally: inout TargetList.Tally,
    _ each: (Registration, Turn) throws -> Void
  ) async throws {
    while let registration = walk.next(&tally) {
      try end(await turnAwaiting(of: registration), of: registration, &tally, each)
    }
    for registration in walk.takeRest() { try each(registration, Turn(outcome: .notCalled)) }
  }

  /// Begins all turns, and awaits them. If the first answer ends the delivery, it cancels the other
  /// turns.
  nonisolated(nonsending) func runConcurrently(
    _ walk: inout AwaitedWalk, _ ends: DeliveryEnds, _ tally: inout TargetList.Tally,
    _ each: (Registration, Turn) throws -> Void
  ) async throws {
    let registrations = walk.takeRest()
    let race = Race(registrations.count, endsAtAnswer: ends.areAnswers)
    await run(registrations, in: race, endsWithTask: walk.endsWithTask)
    let (turns, winner) = race.ended
    for (index, registration) in registrations.enumerated() {
      var turn = turns[index] ?? Turn(outcome: .notCalled)
      // The delivery was over when this turn ended.
      if let winner, winner != index, turn.outcome.isAnswer || turn.wasCancelled {
        turn = Turn(outcome: .notCalled)
      }
      try end(turn, of: registration, &tally, each)
    }
    if winner == nil, walk.isCancelled, turns.contains(where: { $0 == nil }) {
      tally.fail(CancellationError())
    }
  }

  /// Runs all turns in the sender's isolation domain. Those that do not suspend run one after the
  /// other. A closure is isolated to `isolation` only if it captures that parameter.
  private func run(
    _ registrations: [Registration], in race: Race, endsWithTask: Bool,
    isolation: isolated (any Actor)? = #isolation
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for (index, registration) in registrations.enumerated() {
        if race.isOver || endsWithTask && Task.isCancelled { break }
        let own = OwnDelivery(
          delivery: Delivery(
            proxy: proxy, invocation: invocation.carryingCopy(), selector: selector))
        group.addImmediateTask {
          _ = isolation
          race.note(await own.delivery.turnAwaiting(of: registration), index)
        }
      }
      if race.isOver { group.cancelAll() }
      for await _ in group where race.isOver { group.cancelAll() }
    }
  }

  /// Ends a turn, with the answer in the invocation.
  private func end(
    _ turn: Turn, of registration: Registration, _ tally: inout TargetList.Tally,
    _ each: (Registration, Turn) throws -> Void
  ) throws {
    adoptAnswer(of: turn)
    proxy.note(turn, of: registration, invocation.call, &tally)
    try each(registration, turn)
  }

  /// Gives the invocation the answer of a turn, if there is one.
  func adoptAnswer(of turn: Turn) {
    guard turn.outcome.isAnswer, let call = turn.call, call !== invocation else { return }
    invocation.adoptResult(from: call)
  }
}

/// The delivery of one of several turns that run at the same time.
private struct OwnDelivery: @unchecked Sendable {
  // SAFETY: the invocation is a copy that one task alone uses.
  let delivery: Delivery
}

/// Turns that run at the same time, each of which ends in its own task.
private final class Race: Sendable {
  private struct State {
    var turns: [Delivery.Turn?]
    /// The first that answered, if that ends the delivery.
    var winner: Int?
  }

  private let state: Guarded<State>
  private let endsAtAnswer: Bool

  init(_ count: Int, endsAtAnswer: Bool) {
    state = Guarded(State(turns: Array(repeating: nil, count: count)))
    self.endsAtAnswer = endsAtAnswer
  }

  func note(_ turn: Delivery.Turn, _ index: Int) {
    state.withLockInPlace { state in
      state.turns[index] = turn
      if endsAtAnswer, state.winner == nil, turn.outcome.isAnswer { state.winner = index }
    }
  }

  var isOver: Bool { state.read { $0.winner != nil } }

  /// The turns that have ended, when all have; nil for those that did not begin.
  var ended: (turns: [Delivery.Turn?], winner: Int?) { state.read { ($0.turns, $0.winner) } }
}

extension Delivery.Turn {
  fileprivate var wasCancelled: Bool { outcome.error is CancellationError }
}
