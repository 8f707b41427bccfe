// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote

#if NATS
  import ForwardingNATS
#endif

/// The address of another process: the first argument of `serve` and `send`.
enum RemoteAddress: Sendable {
  case unix(path: String)
  case nats(url: String)

  init(_ text: String, _ options: Options) throws(UsageError) {
    if text.hasPrefix("unix:"), text != "unix:" {
      self = .unix(path: String(text.dropFirst(5)))
    } else if text.hasPrefix("nats://") || text.hasPrefix("tls://") {
      self = .nats(url: text)
    } else {
      throw options.fault("'\(text)' is no address: write unix:PATH or nats://HOST:PORT")
    }
  }

  /// A transport for the process that listens.
  func listening() throws -> any Transport {
    switch self {
    case .unix(let path): try UnixSocketTransport(listeningAt: path)
    case .nats(let url): try Self.connected(to: url)
    }
  }

  /// A transport for the process that connects.
  func connected() throws -> any Transport {
    switch self {
    case .unix(let path): try UnixSocketTransport(connectedTo: path)
    case .nats(let url): try Self.connected(to: url)
    }
  }

  private static func connected(to url: String) throws -> any Transport {
    #if NATS
      return try NATSTransport(url)
    #else
      throw TransportError.failed(
        "this tool was built without NATS; build one with it: "
          + "swift build -c release --traits NATS --product forward")
    #endif
  }
}

/// The name of a host and of an interface, as in a subject: `bank-1.bank`.
struct RemoteName: Sendable {
  let host: String
  let interface: String

  /// Parses `NAME.INTERFACE`. The form on the wire is accepted, too: after `forwarding.`, and with
  /// `%` and two hexadecimal digits for a byte that a name may not contain, so that a dot inside a
  /// name is `%2E`.
  init(_ text: String, _ options: Options) throws(UsageError) {
    var parts = text.split(separator: ".", omittingEmptySubsequences: false)
    if parts.count == 3, parts[0] == "forwarding" { parts.removeFirst() }
    guard parts.count == 2, let host = Self.name(parts[0]), let interface = Self.name(parts[1])
    else {
      throw options.fault(
        "'\(text)' is no NAME.INTERFACE, such as shop.shop; a dot inside of a name is %2E")
    }
    (self.host, self.interface) = (host, interface)
  }

  private static func name(_ part: Substring) -> String? {
    if part.isEmpty { return nil }
    // The form of an empty name on the wire.
    if part == "%" { return "" }
    var bytes: [UInt8] = []
    var rest = Array(part.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      // A sign would be part of the number.
      guard rest.count >= 2, rest.first != UInt8(ascii: "+"),
        let escaped = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(escaped)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

/// Runs asynchronous code and blocks the thread until it has finished.
enum Waiting {
  static func result<Value: Sendable>(
    of body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Guarded(Result<Value, any Error>.failure(RemoteError.closed))
    Task {
      do {
        let value = try await body()
        result.withLock { $0 = .success(value) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
    done.wait()
    return try result.read { $0 }.get()
  }
}
