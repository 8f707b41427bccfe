#if NATS
  import Foundation
  import ForwardingNATS
  import ForwardingRemote
  import Synchronization

  /// A real server for a test, on a port that nobody has; ended by its own number.
  package final class NATSServer: Sendable {
    package let port: Int
    private let arguments: [String]
    private let environment: [String: String]
    private let process = Mutex<Process?>(nil)

    package static let program = [
      "/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server",
    ]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The one that tests share.
    package static let shared: NATSServer? = try? NATSServer()

    package var url: String { "nats://127.0.0.1:\(port)" }

    /// Starts one, with what a file of configuration has beside the address.
    package convenience init(
      configuration: String, in folder: TemporaryFolder, environment: [String: String] = [:]
    ) throws {
      let path = folder.path("server.conf")
      try configuration.write(toFile: path, atomically: true, encoding: .utf8)
      try self.init(["-c", path], environment)
    }

    /// Starts one with the configuration of the documentation, and JetStream, which journals need. The password of ann is
    /// `of-ann`.
    package static func documented(in folder: TemporaryFolder) throws -> NATSServer {
      let file = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
      let root = file.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let text = try String(
        contentsOf: root.appending(path: "Documentation/NATS/permissions.conf"), encoding: .utf8)
      return try NATSServer(
        configuration: "jetstream { store_dir: \"\(folder.path("streams"))\" }\n" + text,
        in: folder,
        environment: [
          "BANK_PASSWORD": "of-bank-1", "ANN_PASSWORD": "of-ann", "BEN_PASSWORD": "of-ben",
          "DESK_1_PASSWORD": "of-desk-1", "DESK_2_PASSWORD": "of-desk-2",
          "CLEO_PASSWORD": "of-cleo", "DIRK_PASSWORD": "of-dirk",
        ])
    }

    /// How a user of that configuration connects.
    package func options(_ user: String) -> NATSOptions {
      var options = NATSOptions(url)
      options.user = (user, "of-" + user)
      options.inboxPrefix = "_INBOX_" + user
      return options
    }

    package init(_ arguments: [String] = [], _ environment: [String: String] = [:]) throws {
      port = try Self.freePort()
      (self.arguments, self.environment) = (arguments, environment)
      try start()
    }

    /// Starts it, again if it was killed, at the same port.
    package func start() throws {
      guard let program = Self.program else { throw CocoaError(.fileNoSuchFile) }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = ["-a", "127.0.0.1", "-p", "\(port)"] + arguments
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      process.standardError = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      endWithThisProcess(process.processIdentifier)
      self.process.withLock { $0 = process }
      // It is there when it says so.
      for _ in 0..<500 where process.isRunning {
        if LoopbackSocket(port: port)?.line()?.hasPrefix("INFO") == true { return }
        usleep(20_000)
      }
      throw CocoaError(.fileReadUnknown)
    }

    package func stop() { end(SIGTERM) }

    package func kill() { end(SIGKILL) }

    /// Sends it a signal that it goes on after, or stands still.
    package func signal(_ signal: Int32) {
      if let number = process.withLock({ $0?.processIdentifier }) {
        Foundation.kill(number, signal)
      }
    }

    private func end(_ signal: Int32) {
      let process = process.withLock { process in
        defer { process = nil }
        return process
      }
      guard let process else { return }
      Foundation.kill(process.processIdentifier, signal)
      process.waitUntilExit()
    }

    deinit { stop() }

    /// The system gives each port once, for a while.
    private static func freePort() throws -> Int {
      guard let socket = LoopbackSocket(port: 0, listens: true) else {
        throw CocoaError(.fileReadUnknown)
      }
      return socket.port
    }
  }

  private let started = Mutex<[pid_t]>([])

  /// Ends a process with this one.
  private func endWithThisProcess(_ number: pid_t) {
    started.withLock { started in
      if started.isEmpty { atexit { endAll() } }
      started.append(number)
    }
  }

  private func endAll() {
    for number in started.withLock({ $0 }) { kill(number, SIGTERM) }
  }
#endif
