#if NATS
  import Foundation
  import ForwardingNATS
  import ForwardingRemote

  /// A real server for a test, on a port that nobody has; ended by its own number.
  final class NATSServer: @unchecked Sendable {
    private let process = Process()
    let port: Int

    static let program = [
      "/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server",
    ]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The one that tests share.
    static let shared: NATSServer? = try? NATSServer()

    var url: String { "nats://127.0.0.1:\(port)" }

    init(port: Int? = nil, _ arguments: [String] = []) throws {
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

    func stop() {
      process.terminate()
      process.waitUntilExit()
    }

    func kill() {
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
