// SPDX-License-Identifier: Apache-2.0
#if NATS
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
#endif
