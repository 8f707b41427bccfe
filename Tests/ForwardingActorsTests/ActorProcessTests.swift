import Distributed
import ForwardingActors
import ForwardingRemote
import Foundation
import RemoteTestSupport
import Testing

#if NATS
  import ForwardingNATS
#endif

/// What this test run does in the other process: it has a clerk until its input ends.
@Suite("The other process", .enabled(if: OtherProcess.address != nil))
struct OtherProcessTests {
  @Test("has a clerk")
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

/// A process of this very program, with the same types, that runs the suite above.
final class OtherProcess {
  static let address = ProcessInfo.processInfo.environment["FORWARDING_OTHER_PROCESS"]

  static func transport(_ address: String) throws -> any Transport {
    #if NATS
      if address.hasPrefix("nats:") { return try NATSTransport(address) }
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

  /// Lets it come to its end, and returns its status.
  func end() throws -> Int32 {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus
  }
}

@Suite("Distributed actors of two processes", .timeLimit(.minutes(10)))
struct ActorProcessTests {
  /// Waits until the other process, which is ready, is known here.
  private func meet(_ there: Clerk) async throws {
    while true {
      do {
        _ = try await there.total
        return
      } catch RemoteError.unreachable { await Task.yield() } catch RemoteError.interrupted {}
    }
  }

  /// Where processes meet, and the transport of this one.
  private func ways() throws -> [(String, any Transport)] {
    let path = "/tmp/forwarding-test-\(UInt64.random(in: 0 ... .max))"
    var ways: [(String, any Transport)] = [(path, try UnixSocketTransport(listeningAt: path))]
    #if NATS
      if NATSServer.program != nil {
        let server = try NATSServer()
        ways.append((server.url, try NATSTransport(server.url)))
      }
    #endif
    return ways
  }

  @Test("call each other, with actors as arguments")
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
      while system.outgoing.asked == before { await Task.yield() }
      call.cancel()
      await #expect(throws: RemoteError.cancelled) { try await call.value }
      #expect(try await there.add(5) == 5)
      #expect(try other.end() == 0)
      await #expect(throws: RemoteError.unreachable("nobody listens")) { try await there.add(5) }
      system.close()
      transport.close()
    }
  }

  @Test("a call on its way fails when the other process is killed")
  func killed() async throws {
    let path = "/tmp/forwarding-test-\(UInt64.random(in: 0 ... .max))"
    let transport = try UnixSocketTransport(listeningAt: path)
    defer { transport.close() }
    let other = try OtherProcess(path)
    let system = try MessagingActorSystem(transport, as: "this", deadline: .seconds(300))
    let there = try Clerk.resolve(id: .init("clerk", at: "other"), using: system)
    try await meet(there)
    let before = system.outgoing.asked
    let call = Task { try await there.sleep(600_000) }
    while system.outgoing.asked == before { await Task.yield() }
    other.kill()
    let error = await #expect(throws: RemoteError.self) { try await call.value }
    // It is also killed before the call is sent.
    #expect(error == .interrupted || error == .unreachable("nobody listens"))
    system.close()
  }

  @Test("a new process of the same name is called as the one before was")
  func replaced() async throws {
    let path = "/tmp/forwarding-test-\(UInt64.random(in: 0 ... .max))"
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
