// SPDX-License-Identifier: Apache-2.0

/// The executor of tasks that run on one actor or executor, in the order in which they were started.
///
/// Each task has the priority and the task-local values of its sender. One task at a time runs those
/// that wait. No lock is held while it is started: an executor is the user's code, and may send
/// messages.
package final class OrderedExecutor: TaskExecutor {
  package enum Place: Sendable {
    case actor(any Actor)
    case executor(any TaskExecutor)

    package var object: AnyObject {
      switch self {
      case .actor(let actor): actor
      case .executor(let executor): executor
      }
    }
  }

  private struct State {
    var waiting: [UnownedJob] = []
    var isRunning = false
  }

  package let place: Place
  private let state = Guarded(State())

  package init(_ place: Place) { self.place = place }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFirst = state.withLockInPlace { state in
      state.waiting.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isFirst else { return }
    switch place {
    case .actor(let actor): Task.detached { await self.run(on: actor) }
    case .executor(let executor):
      Task.detached(executorPreference: executor) { await self.run(on: executor) }
    }
  }

  // SAFETY: each job is run once, where its executor says.

  private func run(on actor: isolated any Actor) {
    while let jobs = takeWaiting() {
      for job in jobs {
        unsafe job.runSynchronously(
          isolatedTo: actor.unownedExecutor, taskExecutor: asUnownedTaskExecutor())
      }
    }
  }

  private func run(on executor: any TaskExecutor) async {
    while let jobs = takeWaiting() {
      for job in jobs {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        // Gives other tasks of the executor their turn.
        await Task.yield()
      }
    }
  }

  /// Takes all waiting tasks. Nil if there are none: the task that runs them then ends.
  private func takeWaiting() -> [UnownedJob]? {
    var jobs: [UnownedJob] = []
    state.withLockInPlace { state in
      swap(&state.waiting, &jobs)
      state.isRunning = !jobs.isEmpty
    }
    return jobs.isEmpty ? nil : jobs
  }
}
