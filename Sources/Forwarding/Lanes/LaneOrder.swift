// SPDX-License-Identifier: Apache-2.0
import Invocations

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
/// registrations there.
final class LaneOrder: Sendable {
  private let executor: OrderedExecutor

  init(_ place: OrderedExecutor.Place) { executor = OrderedExecutor(place) }

  /// Makes a call, after the calls submitted earlier have begun. Later ones begin before it ends if
  /// it suspends, as on any actor.
  func run(_ parcel: Parcel, suspends: Bool) {
    // The task retains its executor.
    Task(executorPreference: executor) { self.begin(parcel, suspends: suspends) }
  }

  /// Begins a call in its turn, on the actor or executor. What may suspend has another task: the
  /// actor must not have to wait for this executor.
  private func begin(_ parcel: Parcel, suspends: Bool) {
    guard suspends else { return parcel.perform() }
    switch executor.place {
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
