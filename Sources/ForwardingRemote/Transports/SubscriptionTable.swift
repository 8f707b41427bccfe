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
    var groups: [String: Group] = [:]

    var isEmpty: Bool { alone.isEmpty && groups.isEmpty }
  }

  private struct Group {
    var members: [Listener] = []
    var next = 0
  }

  func add(
    _ subject: RemoteSubject, _ group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> Listener {
    let listener = Listener(self, subject, receive)
    let (isOpen, other) = state.withLockInPlace { state -> (Bool, RemoteSubject?) in
      if state.isClosed { return (false, nil) }
      let known = state.subjects[subject.number]?.subject ?? subject
      guard known == subject else { return (true, known) }
      // Modified in place, as a subject may have very many.
      if let group {
        state.subjects[subject.number, default: Listeners(subject: subject)]
          .groups[group, default: Group()].members.append(listener)
      } else {
        state.subjects[subject.number, default: Listeners(subject: subject)].alone
          .append(listener)
      }
      return (true, nil)
    }
    guard isOpen else { throw .closed }
    if let other { throw .failed("'\(subject)' has the number of '\(other)': rename one of them") }
    return listener
  }

  /// The listeners that get a message: all without a group, and one of each group.
  ///
  /// - Throws: ``TransportError/closed``.
  func listeners(to subject: UInt64) throws(TransportError) -> [Listener] {
    let found: [Listener]? = state.withLockInPlace { state in
      if state.isClosed { return nil }
      guard var listeners = state.subjects[subject] else { return [] }
      if listeners.groups.isEmpty { return listeners.alone }
      var found = listeners.alone
      for (name, group) in listeners.groups {
        found.append(group.members[group.next % group.members.count])
        listeners.groups[name]?.next = (group.next + 1) % group.members.count
      }
      state.subjects[subject] = listeners
      return found
    }
    guard let found else { throw .closed }
    return found
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
    let old: Listeners? = state.withLockInPlace { state in
      guard var listeners = state.subjects[listener.subject.number] else { return nil }
      let old = listeners
      listeners.alone.removeAll { $0 === listener }
      for name in listeners.groups.keys {
        listeners.groups[name]?.members.removeAll { $0 === listener }
        if listeners.groups[name]?.members.isEmpty == true { listeners.groups[name] = nil }
      }
      state.subjects[listener.subject.number] = listeners.isEmpty ? nil : listeners
      return old
    }
    withExtendedLifetime(old) {}
  }

  /// A listener of one subject.
  final class Listener: TransportSubscription {
    private let table: SubscriptionTable
    fileprivate let subject: RemoteSubject
    let receive: @Sendable (TransportMessage) -> Void

    fileprivate init(
      _ table: SubscriptionTable, _ subject: RemoteSubject,
      _ receive: @escaping @Sendable (TransportMessage) -> Void
    ) {
      self.table = table
      self.subject = subject
      self.receive = receive
    }

    func end() { table.remove(self) }
  }
}
