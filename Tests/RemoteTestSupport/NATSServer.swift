#if NATS
  import Foundation
  import ForwardingNATS

  /// A real server for a test, on a port that nobody has; ended by its own number.
  public final class NATSServer: @unchecked Sendable {
    private let process = Process()
    public let port: Int

    public static let program = [
      "/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server",
    ]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The one that tests share.
    public static let shared: NATSServer? = try? NATSServer()

    public var url: String { "nats://127.0.0.1:\(port)" }

    public init(port: Int? = nil, _ arguments: [String] = []) throws {
      guard let program = Self.program else { throw CocoaError(.fileNoSuchFile) }
      self.port = port ?? Int.random(in: 20_000..<60_000)
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = ["-a", "127.0.0.1", "-p", "\(self.port)"] + arguments
      process.standardError = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      endWithThisProcess(process.processIdentifier)
      // It is there when it can be connected to.
      for _ in 0..<100 {
        if let probe = try? NATSTransport(url) {
          probe.close()
          return
        }
        usleep(20_000)
      }
      throw CocoaError(.fileReadUnknown)
    }

    public func stop() {
      process.terminate()
      process.waitUntilExit()
    }

    public func kill() {
      Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  nonisolated(unsafe) private var started: [pid_t] = []

  /// Ends a process with this one.
  private func endWithThisProcess(_ number: pid_t) {
    if started.isEmpty { atexit { for number in started { kill(number, SIGTERM) } } }
    started.append(number)
  }
#endif
