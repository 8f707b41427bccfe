// SPDX-License-Identifier: Apache-2.0
import ForwardingRemote

#if NATS
  import ForwardingNATS
#endif

/// The transports to another process that are tested on every machine.
package enum Way: String, CaseIterable, Codable, CustomStringConvertible, Sendable {
  case inProcess, socket, nats

  /// NATS is included if the package is built with the trait `NATS` and a server is installed.
  package static var allCases: [Way] {
    #if NATS
      if NATSServer.shared != nil { return [.inProcess, .socket, .nats] }
    #endif
    return [.inProcess, .socket]
  }

  /// Those between processes.
  package static let outside = allCases.filter { $0 != .inProcess }

  package var description: String { rawValue }

  /// The transports of the host and of the caller.
  package func ends(at path: String = socketPath()) throws -> (any Transport, any Transport) {
    switch self {
    case .inProcess:
      let transport = InProcessTransport()
      return (transport, transport)
    case .socket:
      let server = try UnixSocketTransport(listeningAt: path)
      return (server, try UnixSocketTransport(connectedTo: path))
    case .nats:
      #if NATS
        if let server = NATSServer.shared {
          return (try server.connect(), try server.connect())
        }
      #endif
      throw TransportError.unreachable("no server")
    }
  }
}

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
