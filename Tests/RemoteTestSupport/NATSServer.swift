// SPDX-License-Identifier: Apache-2.0
#if NATS
  import ForwardingTestSupport
  import Foundation
  import ForwardingNATS
  import ForwardingRemote
  import Testing

  extension Trait where Self == ConditionTrait {
    /// Real servers can be started here.
    package static var natsServer: Self {
      .enabled(if: NATSServer.program != nil, "no nats-server is installed")
    }
  }

  /// A real server for a test, on a port that it picks. It is ended by its process number.
  package final class NATSServer: Sendable {
    private let chosenPort = LockedValue(0)
    package var port: Int { chosenPort.withLock { $0 } }
    private let arguments: [String]
    private let environment: [String: String]
    private let process = LockedValue<Process?>(nil)

    package static let program = [
      "/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server",
    ]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The server that tests share.
    package static let shared: NATSServer? = try? NATSServer()

    package var url: String { "nats://127.0.0.1:\(port)" }

    /// Starts a server with the given lines in its configuration, beside the address.
    package convenience init(
      configuration: String, in folder: TemporaryFolder, environment: [String: String] = [:]
    ) throws {
      let path = folder.path("server.conf")
      try configuration.write(toFile: path, atomically: true, encoding: .utf8)
      try self.init(["-c", path], environment)
    }

    /// Starts a server with the configuration of the documentation. The password of ann is `of-ann`.
    package static func documented(in folder: TemporaryFolder) throws -> NATSServer {
      let file = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
      let root = file.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let text = try String(
        contentsOf: root.appending(path: "Documentation/NATS/permissions.conf"), encoding: .utf8)
      return try NATSServer(
        configuration: text, in: folder,
        environment: [
          "BANK_PASSWORD": "of-bank-1", "ANN_PASSWORD": "of-ann", "BEN_PASSWORD": "of-ben",
        ])
    }

    package func options() -> NATSOptions { Self.options(url) }

    /// Options with timeouts that a busy machine meets, as these tests are not about slow starts.
    package static func options(_ url: String) -> NATSOptions {
      var options = NATSOptions(url)
      options.timeout = .seconds(60)
      options.subscribeTimeout = .seconds(60)
      return options
    }

    /// A connection to the server with those options.
    package func connect() throws -> NATSTransport { try NATSTransport(options()) }

    /// The options with which a user of the documented configuration connects.
    package func options(_ user: String) -> NATSOptions {
      var options = options()
      options.user = (user, "of-" + user)
      options.inboxPrefix = "_INBOX_" + user
      return options
    }

    package init(_ arguments: [String] = [], _ environment: [String: String] = [:]) throws {
      (self.arguments, self.environment) = (arguments, environment)
      try start()
    }

    /// Starts the server. The first start picks a free port; a start after a kill uses the same
    /// one.
    package func start() throws {
      guard let program = Self.program else { throw CocoaError(.fileNoSuchFile) }
      let folder = try TemporaryFolder()
      let process = Process()
      process.executableURL = URL(fileURLWithPath: program)
      let port = port == 0 ? "-1" : "\(port)"
      process.arguments =
        ["-a", "127.0.0.1", "-p", port, "--ports_file_dir", folder.path] + arguments
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      process.standardError = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      endWithThisProcess(process)
      self.process.withLock { $0 = process }
      // The server writes the file once it listens. The name contains its process number, so no
      // other server's file is read.
      let file = folder.path("nats-server_\(process.processIdentifier).ports")
      for _ in 0..<3000 where process.isRunning {
        if let port = Self.port(in: file) {
          chosenPort.withLock { $0 = port }
          return
        }
        usleep(20_000)
      }
      throw CocoaError(.fileReadUnknown)
    }

    private static func port(in file: String) -> Int? {
      struct Ports: Decodable { var nats: [String] }
      guard let bytes = FileManager.default.contents(atPath: file),
        let ports = try? JSONDecoder().decode(Ports.self, from: bytes)
      else { return nil }
      return ports.nats.first.flatMap { URL(string: $0)?.port }
    }

    package func stop() { end(SIGTERM) }

    package func kill() { end(SIGKILL) }

    /// Sends the server a signal that stops or continues it.
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
  }

  private let started = LockedValue<[Process]>([])

  /// Makes a process end together with this one.
  private func endWithThisProcess(_ process: Process) {
    started.withLock { started in
      if started.isEmpty { atexit { endAll() } }
      started.append(process)
    }
  }

  private func endAll() {
    // The number of a process that has ended may be that of a stranger by now.
    for process in started.withLock({ $0 }) where process.isRunning { process.terminate() }
  }
#endif
