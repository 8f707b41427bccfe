// SPDX-License-Identifier: Apache-2.0
import Distributed
import ForwardingActors
import ForwardingRemote
import Foundation
import RemoteTestSupport
import Synchronization
import Testing

#if NATS
  import ForwardingNATS
#endif

/// The code of the other process, which is this test program: it has a clerk until its input ends.
@Suite("The other process", .enabled(if: OtherProcess.address != nil, "other tests start it"))
struct OtherProcessTests {
  @Test("the other process has a clerk")
  func clerk() async throws {
    let address = try #require(OtherProcess.address)
    let transport = try OtherProcess.transport(address)
    let system = try MessagingActorSystem(transport, as: "other", deadline: .seconds(300))
    let clerk = try system.named("clerk") { Clerk(actorSystem: $0) }
    FileHandle.standardError.write(Data("ready\n".utf8))
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        _ = FileHandle.standardInput.readDataToEndOfFile()
        continuation.resume()
      }
    }
    withExtendedLifetime(clerk) { system.close() }
    transport.close()
  }
}

/// A process of this test program, with the same types, that runs the suite above.
final class OtherProcess {
  static let address = ProcessInfo.processInfo.environment["FORWARDING_OTHER_PROCESS"]

  static func transport(_ address: String) throws -> any Transport {
    #if NATS
      if address.hasPrefix("nats:") { return try NATSTransport(NATSServer.options(address)) }
    #endif
    return try UnixSocketTransport(connectedTo: address)
  }

  private let process = Process()
  private let input = Pipe()

  init(_ address: String) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--testing-library", "swift-testing", "--filter", "OtherProcessTests"]
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["FORWARDING_OTHER_PROCESS": address]
    ) { $1 }
    let errors = Pipe()
    process.standardInput = input
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    var text = ""
    while !text.contains("ready") {
      let data = errors.fileHandleForReading.availableData
      guard !data.isEmpty else { throw CocoaError(.fileReadUnknown) }
      text += String(decoding: data, as: UTF8.self)
    }
  }

  var number: Int32 { process.processIdentifier }

  func kill() {
    Foundation.kill(number, SIGKILL)
    process.waitUntilExit()
  }

  /// Lets the process end, and returns its status.
  func end() throws -> Int32 {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus
  }
}

@Suite("Distributed actors of two processes", .timeLimit(.minutes(10)))
struct ActorProcessTests {
  /// Waits until the other process, which is ready, can be reached from here.
  private func meet(_ there: Clerk) async throws {
    while true {
      do {
        _ = try await there.total
        return
      } catch RemoteError.unreachable { await Task.yield() } catch RemoteError.interrupted {}
    }
  }

  /// The addresses at which processes meet, and the transports of this process.
  private func ways() throws -> [(String, any Transport)] {
    let path = socketPath()
    var ways: [(String, any Transport)] = [(path, try UnixSocketTransport(listeningAt: path))]
    #if NATS
      if let server = NATSServer.shared {
        ways.append((server.url, try server.connect()))
      }
    #endif
    return ways
  }

  @Test("two processes call each other, with actors as arguments")
  func called() async throws {
    for (address, transport) in try ways() {
      let other = try OtherProcess(address)
      let system = try MessagingActorSystem(transport, as: "this", deadline: .seconds(300))
      let there = try Clerk.resolve(id: .init("clerk", at: "other"), using: system)
      try await meet(there)
      #expect(try await there.greet("Ann") == "Hello, Ann!")
      let own = try system.named("own") { Clerk(actorSystem: $0) }
      #expect(try await there.introduce("Ann", to: own) == "Hello, Ann of clerk!")
      #expect(system.incoming.answered == 1)
      await #expect(throws: RemoteError.failed(code: 28, text: "no room")) {
        try await there.fail(true)
      }
      let before = system.outgoing.asked
      let call = Task { try await there.sleep(600_000) }
      while system.outgoing.asked == before { try await Task.sleep(for: .milliseconds(1)) }
      call.cancel()
      await #expect(throws: RemoteError.cancelled) { try await call.value }
      #expect(try await there.add(5) == 5)
      #expect(try other.end() == 0)
      #expect(await isUnheard { try await there.add(5) })
      system.close()
      transport.close()
    }
  }

  @Test("a call in flight fails when the other process is killed")
  func killed() async throws {
    let path = socketPath()
    let transport = try UnixSocketTransport(listeningAt: path)
    defer { transport.close() }
    let other = try OtherProcess(path)
    let system = try MessagingActorSystem(transport, as: "this", deadline: .seconds(300))
    let there = try Clerk.resolve(id: .init("clerk", at: "other"), using: system)
    try await meet(there)
    let before = system.outgoing.asked
    let call = Task { try await there.sleep(600_000) }
    while system.outgoing.asked == before { try await Task.sleep(for: .milliseconds(1)) }
    other.kill()
    let error = await #expect(throws: RemoteError.self) { try await call.value }
    // The process may also be killed before the call is sent.
    #expect(error == .interrupted || error?.isUnheard == true)
    system.close()
  }

  @Test("a broken connection fails calls in flight, and later calls wait for a new one")
  func interrupted() async throws {
    let path = socketPath()
    let server = try UnixSocketTransport(listeningAt: path)
    let client = try UnixSocketTransport(connectedTo: path)
    let system = try MessagingActorSystem(client, as: "this", deadline: .seconds(300))
    let interruptions = Atomic(0)
    let ends = Atomic(0)
    system.onInterruption = { interruptions.add(1, ordering: .relaxed) }
    system.onInvalidation = { ends.add(1, ordering: .relaxed) }
    let there = try Clerk.resolve(id: .init("clerk", at: "other"), using: system)
    let node = try MessagingActorSystem(server, as: "other")
    let clerk = try node.named("clerk") { Clerk(actorSystem: $0) }
    let call = Task { try await there.sleep(600_000) }
    while node.incoming.asked == 0 { try await Task.sleep(for: .milliseconds(1)) }
    node.close()
    server.close()
    await #expect(throws: RemoteError.interrupted) { try await call.value }
    let later = Task { try await there.add(7) }
    let again = try UnixSocketTransport(listeningAt: path)
    let next = try MessagingActorSystem(again, as: "other")
    let replacement = try next.named("clerk") { Clerk(actorSystem: $0) }
    #expect(try await later.value == 7)
    client.close()
    await #expect(throws: RemoteError.closed) { try await there.add(7) }
    let told = (interruptions.load(ordering: .relaxed), ends.load(ordering: .relaxed))
    #expect(told == (1, 1))
    next.close()
    again.close()
    withExtendedLifetime((clerk, replacement)) {}
  }

  @Test("a new process with the same name is called like the one before it")
  func replaced() async throws {
    let path = socketPath()
    let transport = try UnixSocketTransport(listeningAt: path)
    defer { transport.close() }
    let system = try MessagingActorSystem(transport, as: "this", deadline: .seconds(300))
    let there = try Clerk.resolve(id: .init("clerk", at: "other"), using: system)
    let first = try OtherProcess(path)
    try await meet(there)
    #expect(try await there.add(5) == 5)
    #expect(try first.end() == 0)
    let second = try OtherProcess(path)
    try await meet(there)
    #expect(try await there.add(7) == 7)
    #expect(try second.end() == 0)
    system.close()
  }
}
