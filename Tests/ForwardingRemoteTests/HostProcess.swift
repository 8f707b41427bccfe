// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Forwarding
import ForwardingRemote
import Foundation
import Testing

import Glibc
#if NATS
  import ForwardingNATS
  import RemoteTestSupport
#endif

/// A separate process that exposes a tally. It ends together with this one.
final class HostProcess: @unchecked Sendable {
  private let process = Process()

  /// Starts a process that listens at a path, or connects to a server at an address.
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

  /// Stops the process, and waits until none of its threads runs.
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

  /// Kills the process at once, as a power failure would.
  func end() {
    if process.isRunning { kill(number, SIGKILL) }
    process.waitUntilExit()
  }

  deinit { end() }

  /// Waits until the process answers.
  static func wait(for remote: RemoteProxy) async throws {
    while (try? await Tally.count(on: remote)) == nil {
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}

/// A sequence of such processes, one at a time.
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
  /// The messages that gatherings send to such processes.
  @Forwardable
  protocol Numbered: AnyObject, Sendable {
    /// The number of the process. It notes the call in the folder, and waits there until it may go
    /// on.
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

/// The code that such a process runs.
@Suite("A process that other tests send to")
struct HostProcessTests {
  private static let settings = ProcessInfo.processInfo.environment

  @Test(
    "the process has a tally",
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
