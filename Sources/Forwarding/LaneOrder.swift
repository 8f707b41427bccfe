/// The order of the messages that a proxy gives to one actor or executor, for all its registrations.
final class LaneOrder: Sendable {
  /// The last message on its way; the next one waits for it.
  private let tail = Guarded<Task<Void, Never>?>(nil)

  /// Runs a job on an actor, after the jobs that were given to it before.
  func run(_ job: DeliveryJob, on actor: any Actor) {
    inOrder { previous in
      Task {
        await previous?.value
        await actor.perform(job)
        self.isKept()
      }
    }
  }

  /// Runs a job on an executor, after the jobs that were given to it before.
  func run(_ job: DeliveryJob, on executor: any TaskExecutor) {
    inOrder { previous in
      Task(executorPreference: executor) {
        await previous?.value
        job.run()
        self.isKept()
      }
    }
  }

  private func inOrder(_ start: (Task<Void, Never>?) -> Task<Void, Never>) {
    tail.withLock { $0 = start($0) }
  }

  /// The order lives as long as a message is on its way, so that a registration which comes after
  /// the last one went gets the same.
  private func isKept() {}
}

extension Actor {
  fileprivate func perform(_ job: DeliveryJob) { job.run() }
}
