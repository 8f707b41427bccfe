// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The subscriptions of this process, by subject.
final class SubscriptionTable: Sendable {
  private let state = Guarded(State())

  private struct State {
    /// By the numbers of the subjects.
    var subjects: [UInt64: Listeners] = [:]
    var isClosed = false
  }

  /// The listeners of one subject.
  private struct Listeners {
    let subject: RemoteSubject
    var all: [Listener] = []
    /// How many messages had to choose among the members of a group.
    var turn = 0
  }

  func add(
    _ subject: RemoteSubject, _ group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    let listener = Listener(self, subject.number, group, receive)
    try state.withLockInPlace { (state) throws(TransportError) in
      if state.isClosed { throw .closed }
      if let other = state.subjects[subject.number]?.subject, other != subject {
        throw .failed(
          "'\(subject.name)' and '\(other.name)' have the same hash: rename one of them")
      }
      // Modified in place, as a subject may have very many.
      state.subjects[subject.number, default: Listeners(subject: subject)].all.append(listener)
    }
    return listener
  }

  /// The listeners that get a message: all without a group, and one of each group.
  ///
  /// - Throws: ``TransportError/closed``.
  func listeners(to subject: UInt64) throws(TransportError) -> [Listener] {
    try state.withLockInPlace { (state) throws(TransportError) in
      if state.isClosed { throw .closed }
      guard let known = state.subjects[subject] else { return [] }
      if known.all.allSatisfy({ $0.group == nil }) { return known.all }
      state.subjects[subject]?.turn &+= 1
      return Dictionary(grouping: known.all, by: \.group).flatMap { group, members in
        group == nil ? members : [members[known.turn % members.count]]
      }
    }
  }

  /// Removes all listeners, and refuses new ones. Returns false if the table was closed before.
  func close() -> Bool {
    // The listeners are released outside the lock, as their closures may own anything.
    let before = state.withLock { state in
      defer { state = State(isClosed: true) }
      return state
    }
    return !before.isClosed
  }

  private func remove(_ listener: Listener) {
    // The caller retains the listener, whose closure may own anything.
    state.withLockInPlace { state in
      state.subjects[listener.subject]?.all.removeAll { $0 === listener }
      if state.subjects[listener.subject]?.all.isEmpty == true {
        state.subjects[listener.subject] = nil
      }
    }
  }

  /// A listener of one subject.
  final class Listener: TransportSubscription {
    private let table: SubscriptionTable
    fileprivate let subject: UInt64
    fileprivate let group: String?
    let receive: @Sendable (TransportMessage) -> Void

    fileprivate init(
      _ table: SubscriptionTable, _ subject: UInt64, _ group: String?,
      _ receive: @escaping @Sendable (TransportMessage) -> Void
    ) {
      (self.table, self.subject, self.group, self.receive) = (table, subject, group, receive)
    }

    func end() { table.remove(self) }
  }
}
