// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Invocations

  /// A permission error of the server, such as `Permissions Violation for Publish to "chat.room"`.
  struct NATSDenial: Sendable {
    enum Kind { case publishing, subscribing }

    let kind: Kind
    let text: String
    private let subject: String
    /// Whether the subject is incomplete, as the library cuts errors after 255 bytes.
    private let isCut: Bool

    /// Parses an error of the server; nil if it is not a permission error.
    init?(_ text: String) {
      let parts = text.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count > 1 else { return nil }
      let words = parts[0].lowercased()
      guard words.contains("permissions violation") else { return nil }
      kind = words.contains("subscription") ? .subscribing : .publishing
      subject = String(parts[1])
      isCut = parts.count == 2
      self.text = text
    }

    /// Whether the error concerns a subject.
    func concerns(_ subject: String) -> Bool {
      isCut ? subject.hasPrefix(self.subject) : subject == self.subject
    }
  }

  /// The permission errors of a connection: the text of the last one, and those of the subscriptions
  /// that are being made.
  final class NATSDenials: Sendable {
    private struct State {
      var last: String?
      var subscriptions: [Int: (subject: String, text: String?)] = [:]
      var count = 0
    }

    private let state = Guarded(State())

    /// The text of the last error, also of earlier connections.
    var last: String? { state.read { $0.last } }

    /// Begins to watch for an error about a subscription. Returns the key of the watch.
    func watch(_ subject: String) -> Int {
      state.withLock { state in
        state.count += 1
        state.subscriptions[state.count] = (subject, nil)
        return state.count
      }
    }

    /// The error that a watch has seen.
    func text(_ watch: Int) -> String? { state.read { $0.subscriptions[watch]?.text } }

    /// Ends a watch.
    func end(_ watch: Int) { state.withLock { $0.subscriptions[watch] = nil } }

    /// Records an error.
    func hear(_ text: String, _ denial: NATSDenial?) {
      state.withLock { state in
        state.last = text
        guard let denial, denial.kind == .subscribing else { return }
        for (watch, (subject, _)) in state.subscriptions where denial.concerns(subject) {
          state.subscriptions[watch]?.text = text
        }
      }
    }

    /// Forgets the errors of subscriptions: another connection may have other permissions.
    func clear() {
      state.withLock { state in
        for watch in state.subscriptions.keys { state.subscriptions[watch]?.text = nil }
      }
    }
  }
#endif
