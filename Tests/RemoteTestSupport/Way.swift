// SPDX-License-Identifier: Apache-2.0
import ForwardingRemote

#if NATS
  import ForwardingNATS
#endif

/// The transports to another process that are tested on every machine.
public enum Way: String, CaseIterable, CustomStringConvertible, Sendable {
  case inProcess, socket, nats

  /// NATS is included if the package is built with the trait `NATS` and a server is installed.
  public static var allCases: [Way] {
    #if NATS
      if NATSServer.shared != nil { return [.inProcess, .socket, .nats] }
    #endif
    return [.inProcess, .socket]
  }

  public var description: String { rawValue }

  /// The transports of the host and of the caller.
  public func ends() throws -> (any Transport, any Transport) {
    switch self {
    case .inProcess:
      let transport = InProcessTransport()
      return (transport, transport)
    case .socket:
      let path = socketPath()
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
