// SPDX-License-Identifier: Apache-2.0

/// What brings calls to the lane of a registration.
enum Carrier: Sendable {
  /// The caller's thread, to which nothing is brought.
  case none
  case queue(MarkedQueue)
  /// An actor or executor.
  case order(LaneOrder)

  /// The queue of the lane, if it is one.
  var marked: MarkedQueue? { if case .queue(let marked) = self { marked } else { nil } }
}

/// The order of the calls that a proxy sends to one actor or executor, shared by all of its
/// registrations there: the executor of a task for each call.
///
/// Each task has the priority and the task-local values of its sender. One task at a time runs those
/// that wait. No lock is held while it is started: an executor is the user's code, and may send
/// messages.
final class LaneOrder: TaskExecutor {
  enum Place: Sendable {
    case actor(any Actor)
    case executor(any TaskExecutor)
  }

  private struct State {
    var waiting: [UnownedJob] = []
    var isRunning = false
  }

  private let place: Place
  private let state = Guarded(State())

  init(_ place: Place) { self.place = place }

  // MARK: Calls

  /// Makes a call, after the calls submitted earlier have begun. Later ones begin before it ends if
  /// it suspends, as on any actor.
  func run(_ parcel: Parcel, suspends: Bool) {
    // The task retains its executor.
    Task(executorPreference: self) { self.begin(parcel, suspends: suspends) }
  }

  /// Begins a call in its turn, on the actor or executor. What may suspend has another task: the
  /// actor must not have to wait for this executor.
  private func begin(_ parcel: Parcel, suspends: Bool) {
    guard suspends else { return parcel.perform() }
    switch place {
    case .actor(let actor): actor.begin(parcel)
    case .executor(let executor):
      parcel.attach(
        Task.immediate(executorPreference: executor) { await parcel.performAwaiting() })
    }
  }

  // MARK: Tasks

  func enqueue(_ job: consuming ExecutorJob) {
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

extension Actor {
  /// Begins a call that may suspend, on this actor.
  fileprivate nonisolated func begin(_ parcel: Parcel) {
    assumeIsolated { actor in
      parcel.attach(
        Task.immediate {
          _ = actor
          await parcel.performAwaiting()
        })
    }
  }
}
