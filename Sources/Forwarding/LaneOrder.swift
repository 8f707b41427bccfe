/// The order of the messages that a proxy gives to one actor or executor, for all its registrations.
///
/// Messages wait in a list, and one task at a time works it off. The task is started under no lock:
/// an executor is the user's code, and may send messages itself.
final class LaneOrder: Sendable {
  private struct State {
    var waiting: [DeliveryJob] = []
    var isRunning = false
  }

  private let state = Guarded(State())

  /// Runs a job on an actor, after the jobs that were given to it before.
  func run(_ job: DeliveryJob, on actor: any Actor) {
    guard isFirst(job) else { return }
    Task { while let next = self.next() { await actor.perform(next) } }
  }

  /// Runs a job on an executor, after the jobs that were given to it before.
  func run(_ job: DeliveryJob, on executor: any TaskExecutor) {
    guard isFirst(job) else { return }
    Task(executorPreference: executor) {
      while let next = self.next() {
        next.run()
        // Others wait for the executor as well.
        await Task.yield()
      }
    }
  }

  /// Appends a job; true if nobody works the list off.
  private func isFirst(_ job: DeliveryJob) -> Bool {
    state.withLockInPlace { state in
      state.waiting.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
  }

  /// The job whose turn it is; nil ends the task.
  private func next() -> DeliveryJob? {
    state.withLockInPlace { state in
      state.isRunning = !state.waiting.isEmpty
      return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
    }
  }
}

extension Actor {
  fileprivate func perform(_ job: DeliveryJob) { job.run() }
}
