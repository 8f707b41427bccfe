// SPDX-License-Identifier: Apache-2.0
import ForwardingRemote

/// Whether a call fails because there is no listener, with an error that names the subject.
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
  /// Whether the error says that there is no listener, and names the subject.
  package var isUnheard: Bool {
    if case .unreachable(let why) = self {
      why.hasPrefix("no host listens to ") && why.contains(".")
    } else {
      false
    }
  }

  /// The error without the name of the subject.
  package var plain: RemoteError { isUnheard ? .unreachable("no host listens") : self }
}
