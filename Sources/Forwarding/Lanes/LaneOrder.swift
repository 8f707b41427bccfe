// SPDX-License-Identifier: Apache-2.0
/// The order of the messages that a proxy sends to one actor or executor, shared by all of its
/// registrations there.
///
/// Messages are appended to a list, and one task at a time processes it. No lock is held while the
/// task is started: an executor is the user's code, and may send messages.
final class LaneOrder: Sendable {
  private struct State {
    var waiting: [LaneJob] = []
    var isRunning = false
  }

  private let state = Guarded(State())

  /// Runs a job on an actor, after the jobs submitted earlier have begun.
  func run(_ job: LaneJob, on actor: any Actor) {
    guard isFirst(job) else { return }
    Task {
      while var jobs = self.takeWaiting() {
        while let next = jobs.popLast() { await actor.perform(next) }
      }
    }
  }

  /// Runs a job on an executor, after the jobs submitted earlier have begun.
  func run(_ job: LaneJob, on executor: any TaskExecutor) {
    guard isFirst(job) else { return }
    Task(executorPreference: executor) {
      while var jobs = self.takeWaiting() {
        while let next = jobs.popLast() {
          if next.suspends {
            next.job.attach(
              Task.immediate(executorPreference: executor) { await next.job.performAwaiting() })
          } else {
            next.job.perform()
          }
          // Gives other tasks of the executor their turn.
          await Task.yield()
        }
      }
    }
  }

  /// Appends a job; true if no task is processing the list.
  private func isFirst(_ job: LaneJob) -> Bool {
    state.withLockInPlace { state in
      state.waiting.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
  }

  /// Takes all waiting jobs, last one first, so that each is released when it is done. Nil if the
  /// list is empty: the task then ends.
  private func takeWaiting() -> [LaneJob]? {
    var jobs: [LaneJob] = []
    state.withLockInPlace { state in
      swap(&state.waiting, &jobs)
      state.isRunning = !jobs.isEmpty
    }
    jobs.reverse()
    return jobs.isEmpty ? nil : jobs
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
