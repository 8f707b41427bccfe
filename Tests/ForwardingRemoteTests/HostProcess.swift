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

  /// Connects to a process that may not listen yet.
  static func connected(to path: String) async throws -> UnixSocketTransport {
    while true {
      if let transport = try? UnixSocketTransport(connectedTo: path) { return transport }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Waits until the process answers.
  static func wait(for remote: RemoteProxy) async throws {
    try await eventually { (try? await Tally.count(on: remote)) != nil }
  }
}

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
    while getppid() == parent { try await Task.sleep(for: .milliseconds(200)) }
    host.close()
  }
}
