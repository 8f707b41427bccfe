import ForwardingTestSupport
import Forwarding
import ForwardingRemote
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#endif
#if NATS
  import ForwardingNATS
  import RemoteTestSupport
#endif

/// A process of its own that has a tally, for others to send to. It ends with this one.
final class HostProcess: @unchecked Sendable {
  private let process = Process()

  /// Starts one that listens at a path, or that a server at an address connects.
  init(_ address: String, as name: String) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--testing-library", "swift-testing", "--filter", "HostProcessTests"]
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["FORWARDING_TEST_HOST": address, "FORWARDING_TEST_NAME": name]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  var number: Int32 { process.processIdentifier }

  func signal(_ signal: Int32) { kill(number, signal) }

  /// Stops it, and waits until none of its threads does anything more.
  func standStill() {
    signal(SIGSTOP)
    let folder = "/proc/\(number)/task"
    var isStill = false
    while !isStill, process.isRunning {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      isStill = threads.allSatisfy { thread in
        let facts = try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8)
        return facts?.split(separator: ")").last?.hasPrefix(" T") == true
      }
    }
  }

  /// Ends it at once, as whoever cuts its power would.
  func end() {
    if process.isRunning { kill(number, SIGKILL) }
    process.waitUntilExit()
  }

  deinit { end() }

  /// Waits until it answers.
  static func wait(for remote: RemoteProxy) async throws {
    while try await remote.ping() == 0 { try await Task.sleep(for: .milliseconds(20)) }
  }
}

/// One such process after the other.
final class HostProcesses: Sendable {
  private let current = LockedValue<HostProcess?>(nil)

  func start(_ address: String, _ name: String) throws {
    let process = try HostProcess(address, as: name)
    current.withLock { $0 = process }
  }

  func kill() {
    let process = current.withLock { $0 }
    process?.end()
  }
}

#if Macros
  /// What gathers ask of such processes.
  @Forwardable
  protocol Numbered: AnyObject, Sendable {
    /// The number of the process. In a folder, it says that it was asked, and waits until it may go on.
    func process(meeting folder: String?) async throws -> Int32
  }

  private final class ThisProcess: Numbered {
    func process(meeting folder: String?) async throws -> Int32 {
      if let folder {
        try "".write(toFile: "\(folder)/\(getpid())", atomically: false, encoding: .utf8)
        while !FileManager.default.fileExists(atPath: folder + "/go on") {
          try await Task.sleep(for: .milliseconds(10))
        }
      }
      return getpid()
    }
  }
#endif

/// What such a process does.
@Suite("A process that other tests send to")
struct HostProcessTests {
  private static let settings = ProcessInfo.processInfo.environment

  @Test(
    "it has a tally",
    .enabled(if: settings["FORWARDING_TEST_HOST"] != nil, "other tests start it"))
  func host() async throws {
    let parent = getppid()
    let address = Self.settings["FORWARDING_TEST_HOST"] ?? ""
    var transport: (any Transport)?
    #if NATS
      if !address.hasPrefix("/") { transport = try NATSTransport(NATSServer.options(address)) }
    #endif
    if transport == nil { transport = try UnixSocketTransport(listeningAt: address) }
    let host = RemoteHost(
      try #require(transport), as: Self.settings["FORWARDING_TEST_NAME"] ?? "")
    try host.expose(Tally(), Tally.interface())
    #if Macros
      try host.expose(ThisProcess(), as: NumberedProxy.self)
    #endif
    while getppid() == parent { try await Task.sleep(for: .milliseconds(200)) }
    host.close()
  }
}
