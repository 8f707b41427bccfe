// SPDX-License-Identifier: Apache-2.0
// Deliveries that are awaited.
extension Delivery {
  /// Runs one turn after the other. After the task is cancelled, no further turn begins, if the
  /// sender gets the cancellation error.
  nonisolated(nonsending) func runAwaiting(
    _ registrations: [Registration], stopsAtFirst: Bool, _ each: (Invocation) throws -> Void
  ) async throws -> DeliveryReport<Invocation> {
    var report = DeliveryReport<Invocation>()
    var isOver = false
    let endsAtError = proxy.targetList.stopsAtFirstError
    invocation.forgetAnswer()
    for registration in registrations {
      var turn = Turn(outcome: .notCalled)
      if !isOver, !report.isCancelled {
        if invocation.endsWithTask, Task.isCancelled {
          report.isCancelled = true
        } else {
          turn = await turnAwaiting(of: registration)
        }
      }
      report.add(proxy.token(of: registration), turn, hasAnswer: invocation.returnsValue)
      if try take(turn, report, each), stopsAtFirst { isOver = true }
      if endsAtError, turn.outcome.error != nil { isOver = true }
    }
    if report.metDead { proxy.purge() }
    return report
  }

  /// Begins all turns, and awaits them. If the first answer ends the delivery, it cancels the other
  /// turns.
  nonisolated(nonsending) func runConcurrently(
    _ registrations: [Registration], stopsAtFirst: Bool,
    _ each: (Invocation) throws -> Void
  ) async throws -> DeliveryReport<Invocation> {
    invocation.forgetAnswer()
    let (turns, winner) = await turnsAtOnce(
      registrations.map { ConcurrentTurn(self, $0) }, stopsAtFirst: stopsAtFirst)
    var report = DeliveryReport<Invocation>()
    report.isCancelled = Task.isCancelled && turns.contains { $0 == nil } && winner == nil
    for (index, registration) in registrations.enumerated() {
      var turn = turns[index] ?? Turn(outcome: .notCalled)
      if let winner, winner != index, turn.wasCancelled || turn.outcome.isAnswer {
        // The delivery was over when this turn ended.
        turn = Turn(outcome: .notCalled)
      }
      report.add(proxy.token(of: registration), turn, hasAnswer: invocation.returnsValue)
      _ = try take(turn, report, each)
    }
    if report.metDead { proxy.purge() }
    return report
  }

  /// Begins and ends turns in the sender's isolation domain. A closure is isolated to `isolation`
  /// only if it captures that parameter.
  private func turnsAtOnce(
    _ concurrent: [ConcurrentTurn], stopsAtFirst: Bool,
    isolation: isolated (any Actor)? = #isolation
  ) async -> (turns: [Turn?], winner: Int?) {
    var turns = [Turn?](repeating: nil, count: concurrent.count)
    var winner: Int?
    await withTaskGroup(of: ConcurrentTurn.Ended.self) { group in
      for (index, turn) in concurrent.enumerated() {
        if winner != nil || Task.isCancelled { break }
        // Turns that do not suspend run here, in order.
        if let ended = turn.begin() {
          turns[index] = ended
          if stopsAtFirst, ended.outcome.isAnswer { winner = index }
        } else {
          group.addTask { await turn.end(index, isolation) }
        }
      }
      if winner != nil { group.cancelAll() }
      for await ended in group {
        turns[ended.index] = ended.turn
        guard stopsAtFirst, winner == nil, ended.turn.outcome.isAnswer else { continue }
        winner = ended.index
        group.cancelAll()
      }
    }
    return (turns, winner)
  }

  /// Passes on the answer of a turn; returns false if there is none.
  private func take(
    _ turn: Turn, _ report: DeliveryReport<Invocation>,
    _ each: (Invocation) throws -> Void
  ) throws -> Bool {
    guard turn.outcome.isAnswer, let call = turn.call else { return false }
    if call !== invocation { invocation.adoptResult(from: call) }
    do {
      try each(invocation)
      return true
    } catch {
      if report.metDead { proxy.purge() }
      proxy.diagnose(report.failures, of: selector)
      throw error
    }
  }
}

extension Delivery.Turn {
  fileprivate var wasCancelled: Bool {
    if case .failed(let error) = outcome { error is CancellationError } else { false }
  }
}

extension DeliveryReport {
  fileprivate var metDead: Bool {
    entries.contains { if case .dead = $0.outcome { true } else { false } }
  }
}

/// One of several turns that run at the same time.
private final class ConcurrentTurn: @unchecked Sendable {
  // SAFETY: the sender creates and begins it, hands it to one task, and reads it again after that
  // task has ended. The invocation is a copy that no other turn has.
  private let delivery: Delivery
  private let registration: Registration
  private var target: AnyObject?
  private var method: Implementation?
  private var lane = DeliveryLane.caller
  private var ending = CallEnd.never

  struct Ended: @unchecked Sendable {
    // SAFETY: the same holds as above; the task has ended.
    let index: Int
    let turn: Delivery.Turn
  }

  init(_ delivery: Delivery, _ registration: Registration) {
    self.registration = registration
    self.delivery = Delivery(
      proxy: delivery.proxy, invocation: delivery.invocation.carryingCopy(),
      selector: delivery.selector)
  }

  /// Begins the turn. Returns its outcome if the turn is over, or needs no task.
  func begin() -> Delivery.Turn? {
    switch delivery.find(registration) {
    case .over(let turn): return turn
    case .target(let target, let method):
      if registration.isSpecial {
        switch delivery.claim(registration, method, isAwaited: true) {
        case .over(let turn): return turn
        case .lane(let lane, let end): (self.lane, self.ending) = (lane, end)
        }
      }
      if case .caller = lane.kind, let method, !method.isAwaited {
        return delivery.settle(delivery.sendHere(to: target, method), registration, ending)
      }
      (self.target, self.method) = (target, method)
      return nil
    }
  }

  /// Runs to the end, in the sender's isolation domain.
  func end(_ index: Int, _ isolation: isolated (any Actor)?) async -> Ended {
    guard let target else { return Ended(index: index, turn: .init(outcome: .notCalled)) }
    let turn = await delivery.sendAwaiting(to: target, method, registration, lane, ending)
    self.target = nil
    return Ended(index: index, turn: turn)
  }
}
