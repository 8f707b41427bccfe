// SPDX-License-Identifier: Apache-2.0
/// The order of the messages that a proxy sends to one actor or executor, shared by all of its
/// registrations there.
///
/// Each message has a task, which has the priority and the task-local values of its sender, and
/// waits for its turn. No lock is held while a task is started: an executor is the user's code, and
/// may send messages.
final class LaneOrder: Sendable {
  private struct State {
    /// The turns that were given, and the one that it is.
    var given = 0
    var current = 0
    /// The tasks that wait, by their turns.
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Guarded(State())

  /// Runs a job on an actor, after the jobs submitted earlier have begun.
  func run(_ job: LaneJob, on actor: any Actor) {
    let turn = takeTurn()
    Task {
      await self.begin(turn)
      await actor.perform(job)
      self.endTurn()
    }
  }

  /// Runs a job on an executor, after the jobs submitted earlier have begun.
  func run(_ job: LaneJob, on executor: any TaskExecutor) {
    let turn = takeTurn()
    Task(executorPreference: executor) {
      await self.begin(turn)
      if job.suspends {
        job.job.attach(
          Task.immediate(executorPreference: executor) { await job.job.performAwaiting() })
      } else {
        job.job.perform()
      }
      self.endTurn()
    }
  }

  private func takeTurn() -> Int {
    state.withLockInPlace { state in
      defer { state.given += 1 }
      return state.given
    }
  }

  /// Waits for a turn.
  private func begin(_ turn: Int) async {
    if state.read({ $0.current }) == turn { return }
    await withCheckedContinuation { continuation in
      let isNow = state.withLockInPlace { state in
        if state.current == turn { return true }
        state.waiting[turn] = continuation
        return false
      }
      if isNow { continuation.resume() }
    }
  }

  private func endTurn() {
    let next = state.withLockInPlace { state in
      state.current += 1
      return state.waiting.removeValue(forKey: state.current)
    }
    next?.resume()
  }
}

/// A job, and whether it may suspend. Later jobs then begin before it ends, as on any actor.
struct LaneJob: Sendable {
  let job: DeliveryJob
  let suspends: Bool
}

extension Actor {
  fileprivate func perform(_ next: LaneJob) {
    guard next.suspends else { return next.job.perform() }
    next.job.attach(
      Task.immediate {
        _ = self
        await next.job.performAwaiting()
      })
  }
}
