#if NATS
  import Invocations

  /// What the server does not allow, as it says: `Permissions Violation for Publish to "chat.room"`.
  struct NATSDenial: Sendable {
    enum Kind { case publishing, subscribing }

    let kind: Kind
    let text: String
    private let subject: String
    /// The library cuts what is longer than 255 bytes.
    private let isCut: Bool

    /// Reads what the server says; nil where that is something else.
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

    /// Whether it is said of a subject.
    func concerns(_ subject: String) -> Bool {
      isCut ? subject.hasPrefix(self.subject) : subject == self.subject
    }
  }

  /// What a server did not allow a connection, in the order in which it was said: of each subject the last, for so many
  /// subjects.
  final class NATSDenials: Sendable {
    private struct State {
      var heard: [(number: Int, denial: NATSDenial)] = []
      var count = 0
      var last: String?
    }

    private static let subjects = 256
    private let state = Guarded(State())

    /// The last words, of whatever connection.
    var last: String? { state.read { $0.last } }
    /// How many were heard.
    var count: Int { state.read { $0.count } }

    /// Notes what is said.
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

    /// The words about a subject, if they came later than so many.
    func text(_ kind: NATSDenial.Kind, _ subject: String, since count: Int) -> String? {
      state.read {
        $0.heard.last { $0.number > count && $0.denial.kind == kind && $0.denial.concerns(subject) }
      }?.denial.text
    }

    /// Forgets all but the last words.
    func clear() { state.withLock { $0.heard = [] } }
  }
#endif
