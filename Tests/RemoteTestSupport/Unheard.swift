import ForwardingRemote

/// Whether a call is told that nobody listens, and to what.
package nonisolated(nonsending) func isUnheard<Answer>(
  _ call: () async throws -> Answer
) async -> Bool {
  do {
    _ = try await call()
    return false
  } catch {
    return (error as? RemoteError)?.isUnheard ?? false
  }
}

extension RemoteError {
  /// Whether nobody listens, and the error says to what.
  package var isUnheard: Bool {
    if case .unreachable(let why) = self {
      why.hasPrefix("nobody listens to ") && why.contains(".")
    } else {
      false
    }
  }

  /// The same without what it is that nobody listens to.
  package var plain: RemoteError { isUnheard ? .unreachable("nobody listens") : self }
}
