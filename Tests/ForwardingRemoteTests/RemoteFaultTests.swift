// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Failures of calls to other processes", .timeLimit(.minutes(10)))
struct RemoteFaultTests {
  private let name = "bank \(UInt32.random(in: 0 ... .max))"

  /// The subject of the vault's messages.
  private var subject: RemoteSubject { RemoteSubject(parts: "forwarding", name, "bank") }

  /// Sends bytes as another process might, and returns the answer.
  private func answer(
    to bytes: [UInt8], over transport: any Transport
  ) async throws -> [UInt8] {
    let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
    let request = try transport.request(bytes, to: subject) {
      if let answer = try? $0.get() { continuation.yield(answer) }
      continuation.finish()
    }
    defer { request.end() }
    for await answer in stream { return answer }
    return []
  }

  /// A request as in Documentation/Wire.md.
  private func request(_ call: [UInt8], number: UInt8, kind: UInt8 = 1) -> [UInt8] {
    Envelope.request(kind, number: UInt64(number), time: 1000, call)
  }

  @Test("bytes that are not a call are refused, and the host goes on", arguments: Way.allCases)
  func hostile(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    try host.expose(Vault(), Vault.interface())
    let good = try Vault.interface().encodeSent(Vault.deposit.message.invocation(1))
    var random = SystemRandomNumberGenerator()
    for round in 0..<300 {
      var bytes = request(good, number: UInt8(round % 250))
      switch round % 4 {
      case 0: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
      case 1: bytes[Int.random(in: 12..<bytes.count, using: &random)] ^= 1 << (random.next() % 8)
      case 2: bytes += [1, 2, 3]
      default:
        bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8.random(in: 0...255) }
      }
      let answer = try await answer(to: bytes, over: here)
      #expect(answer.count >= 20)
    }
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(300))
    _ = try await Vault.deposit(1, on: remote)
    #expect(host.statistics.strange > 0)
  }

  @Test(
    "a message that is larger than the transport carries is refused by the sender",
    arguments: Way.allCases)
  func large(way: Way) async throws {
    let (there, here) = try way.ends()
    let limit = here.maximumPayload
    #expect(throws: TransportError.tooLarge(limit: limit, given: limit + 1)) {
      try here.publish([UInt8](repeating: 0, count: limit + 1), to: "anything")
    }
    let received = Atomic(0)
    let listener = try there.subscribe(to: "large", group: nil) {
      received.store($0.payload.count, ordering: .relaxed)
    }
    try here.publish([UInt8](repeating: 1, count: limit), to: "large")
    while received.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(1)) }
    let count = received.load(ordering: .relaxed)
    #expect(count == limit)
    listener.end()
  }

  @Test(
    "a result that is larger than the transport carries is refused by the host",
    arguments: Way.allCases)
  func largeResult(way: Way) async throws {
    let (there, here) = try way.ends()
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    try host.expose(Vault(), Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(300))
    let limit = there.maximumPayload
    // The answer has 20 bytes in front of the text, and four for its length.
    let length = try await Vault.text(limit - 24, on: remote).utf8.count
    #expect(length == limit - 24)
    let error = TransportError.tooLarge(limit: limit, given: limit + 1)
    await #expect(throws: RemoteError.refused(.unsendableResult, "\(error)")) {
      try await Vault.text(limit - 23, on: remote)
    }
    #expect(host.statistics.refused == 1)
  }

  @Test("a broken connection fails calls in flight, and is restored")
  func interrupted() async throws {
    let path = socketPath()
    var server: UnixSocketTransport? = try UnixSocketTransport(listeningAt: path)
    let client = try UnixSocketTransport(connectedTo: path)
    let remote = RemoteProxy(try Vault.interface(), client, at: name, deadline: .seconds(300))
    let interruptions = Atomic(0)
    remote.onInterruption = { interruptions.add(1, ordering: .relaxed) }
    let host = RemoteHost(try #require(server), as: name)
    try host.expose(Vault(), Vault.interface())
    let sleeping = Task { try await Vault.sleep(600_000, on: remote) }
    while host.statistics.asked == 0 { try await Task.sleep(for: .milliseconds(1)) }
    host.close()
    server?.close()
    server = nil
    await #expect(throws: RemoteError.interrupted) { try await sleeping.value }
    // This call waits for the connection.
    let later = Task { try await Vault.deposit(7, on: remote) }
    let again = try UnixSocketTransport(listeningAt: path)
    let next = RemoteHost(again, as: name)
    try next.expose(Vault(), Vault.interface())
    #expect(try await later.value == 7)
    let interrupted = interruptions.load(ordering: .relaxed)
    #expect(interrupted == 1)
    next.close()
    client.close()
    await #expect(throws: RemoteError.closed) { try await Vault.deposit(7, on: remote) }
    again.close()
  }

  @Test("the kernel identifies the sender over a socket, and a second listener is refused")
  func peers() async throws {
    let path = socketPath()
    let server = try UnixSocketTransport(listeningAt: path)
    let client = try UnixSocketTransport(connectedTo: path)
    let host = RemoteHost(server, as: name)
    try host.expose(Vault(), Vault.interface())
    let seen = Atomic(false)
    host.authorize = {
      if case .process(getpid(), getuid(), getgid()) = $0.peer {
        seen.store(true, ordering: .relaxed)
      }
      return true
    }
    let remote = RemoteProxy(try Vault.interface(), client, at: name, deadline: .seconds(300))
    #expect(try await Vault.deposit(7, on: remote) == 7)
    let wasSeen = seen.load(ordering: .relaxed)
    #expect(wasSeen)
    #expect(throws: TransportError.unreachable("\(path): a process listens there already")) {
      try UnixSocketTransport(listeningAt: path)
    }
    host.close()
    client.close()
    server.close()
    #expect(access(path, F_OK) != 0)
    #expect(throws: TransportError.unreachable("\(path): no process listens there")) {
      try UnixSocketTransport(connectedTo: path)
    }
  }

  @Test("a ping counts the hosts of a name that answer in time")
  func pinged() async throws {
    let (there, here) = try Way.inProcess.ends()
    let hosts = (0..<3).map { _ in RemoteHost(there, as: name) }
    defer { for host in hosts { host.close() } }
    for host in hosts { try host.expose(Vault(), Vault.interface()) }
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(300))
    #expect(try await remote.ping(expecting: 3) == 3)
    #expect(try await remote.ping(expecting: 4, within: .seconds(1)) == 3)
  }

  @Test(
    "a proxy made while the connection is broken waits for it, up to its deadline"
  )
  func madeWhileBroken() async throws {
    let path = socketPath()
    let server = try UnixSocketTransport(listeningAt: path)
    let client = try UnixSocketTransport(connectedTo: path)
    server.close()
    while (try? client.publish([], to: "anything")) != nil {
      try await Task.sleep(for: .milliseconds(1))
    }
    let remote = RemoteProxy(try Vault.interface(), client, at: name)
    remote.deadline = .milliseconds(100)
    await #expect(throws: RemoteError.timedOut) { try await Vault.deposit(7, on: remote) }
    remote.deadline = .seconds(300)
    let again = try UnixSocketTransport(listeningAt: path)
    let host = RemoteHost(again, as: name)
    try host.expose(Vault(), Vault.interface())
    #expect(try await Vault.deposit(7, on: remote) == 7)
    host.close()
    client.close()
    again.close()
  }
}
