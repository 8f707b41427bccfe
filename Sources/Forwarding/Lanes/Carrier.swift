// SPDX-License-Identifier: Apache-2.0
import Invocations

/// What brings calls to the lane of a registration.
enum Carrier: Sendable {
  /// The caller's thread, to which nothing is brought.
  case none
  case queue(MarkedQueue)
  /// The order of the calls that a proxy sends to one actor or executor, shared by all of its
  /// registrations there.
  case order(OrderedExecutor)

  /// The queue of the lane, if it is one.
  var marked: MarkedQueue? { if case .queue(let marked) = self { marked } else { nil } }

  /// Sends a parcel to the lane, after the calls that were sent there before. Later ones begin before
  /// it ends if it suspends, as on any actor.
  func send(_ parcel: Parcel) {
    switch self {
    case .none: parcel.perform()
    case .queue(let marked):
      if parcel.suspends {
        parcel.attach(
          Task(executorPreference: QueueExecutor(marked.queue)) { await parcel.performAwaiting() })
      } else {
        marked.system.async(parcel) { KnownClass.taken($0, as: Parcel.self).perform() }
      }
    case .order(let order):
      // The task retains its executor.
      Task(executorPreference: order) { order.begin(parcel) }
    }
  }
}

extension OrderedExecutor {
  /// Begins a call in its turn, on the actor or executor. What may suspend has another task: the
  /// actor must not have to wait for this executor.
  fileprivate func begin(_ parcel: Parcel) {
    guard parcel.suspends else { return parcel.perform() }
    switch place {
    case .actor(let actor): actor.begin(parcel)
    case .executor(let executor):
      parcel.attach(
        Task.immediate(executorPreference: executor) { await parcel.performAwaiting() })
    }
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
