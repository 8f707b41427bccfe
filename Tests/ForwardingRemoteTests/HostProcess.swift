// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Testing

import Glibc
#if NATS
  import ForwardingNATS
#endif

/// A separate process that exposes a vault. It ends together with this one.
final class HostProcess: @unchecked Sendable {
  let name: String
  /// The path of its socket, or the address of its server.
  let address: String
  #if NATS
    let server: NATSServer?
  #endif
  private let process = LockedValue(Process())

  /// Starts a process that listens at a path, or connects to a server of its own or that of another.
  init(_ way: Way, beside other: HostProcess? = nil) throws {
    name = other?.name ?? "bank \(UInt32.random(in: 0 ... .max))"
    #if NATS
      server = try way == .nats ? other?.server ?? NATSServer() : nil
      address = server?.url ?? socketPath()
    #else
      address = socketPath()
    #endif
    try start()
  }

  private func start() throws {
    let new = Process()
    new.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    new.arguments = ["--testing-library", "swift-testing", "--filter", "HostProcessTests"]
    new.environment = ProcessInfo.processInfo.environment.merging(
      ["FORWARDING_TEST_HOST": address, "FORWARDING_TEST_NAME": name]) { $1 }
    new.standardOutput = FileHandle.nullDevice
    new.standardError = FileHandle.nullDevice
    try new.run()
    process.withLock { $0 = new }
  }

  var number: Int32 { process.withLock { $0.processIdentifier } }

  func signal(_ signal: Int32) { kill(number, signal) }

  /// Stops the process, and waits until none of its threads runs.
  func standStill() {
    signal(SIGSTOP)
    let folder = "/proc/\(number)/task"
    var isStill = false
    while !isStill, process.withLock({ $0.isRunning }) {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      isStill = threads.allSatisfy { thread in
        let facts = try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8)
        return facts?.split(separator: ")").last?.hasPrefix(" T") == true
      }
    }
  }

  /// Kills the process at once, as a power failure would.
  func end() {
    process.withLock { process in
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
    }
  }

  deinit { end() }

  /// Kills what the other side is connected to, and starts it again: its server, or the process.
  func killAndStart() throws {
    #if NATS
      if let server {
        server.kill()
        return try server.start()
      }
    #endif
    end()
    try start()
  }

  /// A proxy for the vault, once it answers.
  func reached() async throws -> RemoteProxy {
    var transport: (any Transport)?
    #if NATS
      transport = try server?.connect()
    #endif
    while transport == nil {
      transport = try? UnixSocketTransport(connectedTo: address)
      if transport == nil { try await Task.sleep(for: .milliseconds(10)) }
    }
    let remote = try Bank.remote(try #require(transport), at: name)
    try await Self.wait(for: remote)
    return remote
  }

  /// Waits until the process answers.
  static func wait(for remote: RemoteProxy) async throws {
    try await eventually { (try? await Vault.count(on: remote)) != nil }
  }
}

/// The code that such a process runs.
@Suite("A process that other tests send to")
struct HostProcessTests {
  private static let settings = ProcessInfo.processInfo.environment

  @Test(
    "the process has a vault",
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
    try host.expose(Vault(), Vault.interface())
    while getppid() == parent { try await Task.sleep(for: .milliseconds(200)) }
    host.close()
  }
}

/// Counts the outcomes of calls.
final class Endings: Sendable {
  private struct Counts {
    var answered: Set<Int> = []
    var others: [String: Int] = [:]
    var next = 0
  }

  private let counts = LockedValue(Counts())

  var answered: Set<Int> { counts.withLock { $0.answered } }
  var others: [String: Int] { counts.withLock { $0.others } }
  var sum: Int { counts.withLock { $0.answered.count + $0.others.values.reduce(0, +) } }

  /// Sends numbers, `width` at a time, and records the outcome of each.
  func send(_ numbers: Range<Int>, to remote: RemoteProxy, atATime width: Int) async {
    counts.withLock { $0.next = numbers.lowerBound }
    await withTaskGroup(of: Void.self) { tasks in
      for _ in 0..<width {
        tasks.addTask {
          while true {
            let number = self.counts.withLock { counts in
              defer { counts.next += 1 }
              return counts.next
            }
            guard number < numbers.upperBound else { return }
            let outcome = await Self.outcome(of: number, on: remote)
            self.counts.withLock { counts in
              if let outcome {
                counts.others[outcome, default: 0] += 1
              } else {
                counts.answered.insert(number)
              }
            }
          }
        }
      }
    }
  }

  /// Runs a closure each time that a given number of calls has ended, on a separate thread, as
  /// those of tasks may all be busy.
  func each(_ sums: [Int], _ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      beginThread {
        for least in sums {
          while self.sum < least { usleep(100) }
          body()
        }
        continuation.resume()
      }
    }
  }

  /// How a call ends; nil if it is answered.
  private static func outcome(of number: Int, on remote: RemoteProxy) async -> String? {
    do {
      return try await Vault.take(number, on: remote) == number ? nil : "another's answer"
    } catch RemoteError.timedOut {
      return "timed out"
    } catch RemoteError.interrupted {
      return "interrupted"
    } catch RemoteError.unreachable {
      return "unreachable"
    } catch {
      return "\(error)"
    }
  }
}
