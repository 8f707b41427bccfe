/// The order of the messages that a proxy sends to one actor or executor, for all its
/// registrations.
///
/// Messages wait in a list, and one task at a time works it off. The task is started under no lock:
/// an executor is the user's code, and may send messages itself.
final class LaneOrder: Sendable {
  private struct State {
    var waiting: [LaneJob] = []
    var isRunning = false
  }

  private let state = Guarded(State())

  /// Runs a job on an actor, after the jobs that were given to it before have begun.
  func run(_ job: LaneJob, on actor: any Actor) {
    guard isFirst(job) else { return }
    Task {
      while var jobs = self.takeWaiting() {
        while let next = jobs.popLast() { await actor.perform(next) }
      }
    }
  }

  /// Runs a job on an executor, after the jobs that were given to it before have begun.
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
          // Others wait for the executor as well.
          await Task.yield()
        }
      }
    }
  }

  /// Appends a job; true if nobody works the list off.
  private func isFirst(_ job: LaneJob) -> Bool {
    state.withLockInPlace { state in
      state.waiting.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
  }

  /// Takes all jobs that wait, the last one first, so that each dies when it is done; nil ends the task.
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

/// A job, and whether it may suspend: then others begin before it ends, as on any actor.
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
