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
    var alone: [Listener] = []
    var groups: [String: [Listener]] = [:]
    /// How many messages had to choose among the members of a group.
    var turn = 0

    var isEmpty: Bool { alone.isEmpty && groups.isEmpty }

    /// The members of a group, which is not empty, or the listeners without one.
    subscript(group: String?) -> [Listener] {
      _read { yield group.map { groups[$0] ?? [] } ?? alone }
      _modify {
        guard let group else {
          yield &alone
          return
        }
        yield &groups[group, default: []]
        if groups[group]?.isEmpty == true { groups[group] = nil }
      }
    }
  }

  func add(
    _ subject: RemoteSubject, _ group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> Listener {
    let listener = Listener(self, subject, group, receive)
    try state.withLockInPlace { (state) throws(TransportError) in
      if state.isClosed { throw .closed }
      if let other = state.subjects[subject.number]?.subject, other != subject {
        throw .failed("'\(subject)' has the number of '\(other)': rename one of them")
      }
      // Modified in place, as a subject may have very many.
      state.subjects[subject.number, default: Listeners(subject: subject)][group].append(listener)
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
      if known.groups.isEmpty { return known.alone }
      state.subjects[subject]?.turn &+= 1
      return known.alone + known.groups.values.map { $0[known.turn % $0.count] }
    }
  }

  /// Removes all listeners, and refuses new ones. Returns false if the table was closed before.
  func close() -> Bool {
    // The listeners are released outside the lock, as their closures may own anything.
    let (listeners, wasOpen) = state.withLockInPlace { state in
      let before = state
      state = State(isClosed: true)
      return (before.subjects, !before.isClosed)
    }
    return withExtendedLifetime(listeners) { wasOpen }
  }

  fileprivate func remove(_ listener: Listener) {
    // The caller retains the listener, whose closure may own anything.
    state.withLockInPlace { state in
      let number = listener.subject.number
      state.subjects[number]?[listener.group].removeAll { $0 === listener }
      if state.subjects[number]?.isEmpty == true { state.subjects[number] = nil }
    }
  }

  /// A listener of one subject.
  final class Listener: TransportSubscription {
    private let table: SubscriptionTable
    fileprivate let subject: RemoteSubject
    fileprivate let group: String?
    let receive: @Sendable (TransportMessage) -> Void

    fileprivate init(
      _ table: SubscriptionTable, _ subject: RemoteSubject, _ group: String?,
      _ receive: @escaping @Sendable (TransportMessage) -> Void
    ) {
      self.table = table
      self.subject = subject
      self.group = group
      self.receive = receive
    }

    func end() { table.remove(self) }
  }
}
