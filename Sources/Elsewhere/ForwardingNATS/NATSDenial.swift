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

  /// The permission errors of a connection in the order of their arrival. Each text is stored once,
  /// with its last arrival, and the number of texts is limited.
  final class NATSDenials: Sendable {
    private struct State {
      var heard: [(number: Int, denial: NATSDenial)] = []
      var count = 0
      var last: String?
    }

    private static let subjects = 256
    private let state = Guarded(State())

    /// The text of the last error, also of earlier connections.
    var last: String? { state.read { $0.last } }
    /// The number of errors so far.
    var count: Int { state.read { $0.count } }

    /// Records an error.
    func hear(_ text: String, _ denial: NATSDenial?) {
      state.withLock { state in
        state.last = text
        state.count += 1
        guard let denial else { return }
        state.heard.removeAll { $0.denial.text == text }
        if state.heard.count == Self.subjects { state.heard.removeFirst() }
        state.heard.append((state.count, denial))
      }
    }

    /// The error about a subject, if it arrived after the first `count` errors.
    func text(_ kind: NATSDenial.Kind, _ subject: String, since count: Int) -> String? {
      state.read {
        $0.heard.last { $0.number > count && $0.denial.kind == kind && $0.denial.concerns(subject) }
      }?.denial.text
    }

    /// Removes all errors but the text of the last one.
    func clear() { state.withLock { $0.heard = [] } }
  }
#endif
