// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteTestSupport
import Synchronization
import Testing

#if NATS
  import ForwardingNATS
#endif

/// Calls that meet a connection which is broken, or has just been restored.
@Suite("Restored connections", .timeLimit(.minutes(10)))
struct ReturnTests {
  private let name = "bank \(UInt32.random(in: 0 ... .max))"

  private var subject: RemoteSubject { RemoteSubject(parts: "forwarding", name, "bank") }

  /// The milliseconds left, as a request contains them: rounded up by less than a thousandth.
  private static func left(_ request: [UInt8]) -> Int {
    let time = Int(request[2]) | Int(request[3]) << 8
    return (time & 0x7FF) << (time >> 11)
  }

  /// Sends a call with a deadline of 300 s while nothing can be sent, waits for some time, and
  /// returns the request that then arrives.
  private func asked(
    over here: any Transport, while broken: () async throws -> Void,
    restore: () throws -> any Transport
  ) async throws -> Int {
    try await broken()
    let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(300))
    let call = Task { try await Vault.deposit(7, on: remote) }
    // Its deadline begins when it is counted.
    while remote.statistics.asked == 0 { try await Task.sleep(for: .milliseconds(1)) }
    try await Task.sleep(for: .milliseconds(500))
    let there = try restore()
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let listener = try there.subscribe(to: subject, group: nil) { message in
      continuation.yield(Self.left(message.payload))
    }
    defer { listener.end() }
    defer { call.cancel() }
    for await left in stream { return left }
    return 0
  }

  @Test("over a socket, a call contains only the time that is left when it is sent")
  func lessTimeOverSocket() async throws {
    let path = socketPath()
    let server = try UnixSocketTransport(listeningAt: path)
    let client = try UnixSocketTransport(connectedTo: path)
    let left = try await asked(over: client) {
      server.close()
      while (try? client.publish([], to: "anything")) != nil {
        try await Task.sleep(for: .milliseconds(1))
      }
    } restore: {
      try UnixSocketTransport(listeningAt: path)
    }
    #expect(left > 0 && left <= 299_800, "\(left)")
    client.close()
  }

  #if NATS
    @Test(
      "over NATS, a call contains only the time left, and an unawaited one is not sent later",
      .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
    func lessTimeOverNATS() async throws {
      let server = try NATSServer()
      let here = try server.connect()
      let remote = RemoteProxy(try Vault.interface(), here, at: name, deadline: .seconds(300))
      let left = try await asked(over: here) {
        server.kill()
        while (try? here.publish([], to: "anything")) != nil {
          try await Task.sleep(for: .milliseconds(1))
        }
        #expect(throws: RemoteError.interrupted) { try Vault.add.message(7, on: remote) }
      } restore: {
        try server.start()
        return try server.connect()
      }
      #expect(left > 0 && left <= 299_800, "\(left)")
    }
  #endif

  @Test("a call without a listener just after an interruption is sent again until there is one")
  func unheard() async throws {
    let transport = FlakyTransport(unheard: 3)
    let host = RemoteHost(transport.inner, as: name)
    defer { host.close() }
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), transport, at: name, deadline: .seconds(300))
    // There was no interruption, so the error is final.
    #expect(
      await isUnheard {
        try await Vault.deposit(7, on: remote)
      })
    #expect(transport.requests.load(ordering: .relaxed) == 1)
    transport.observers.tell(.interrupted)
    transport.observers.tell(.restored)
    #expect(try await Vault.deposit(7, on: remote) == 7)
    #expect(transport.requests.load(ordering: .relaxed) == 4)
    #expect(vault.balance == 7)
  }

  @Test(
    "a call after an interrupted one is sent again, even before the interruption is reported")
  func brokenCall() async throws {
    let transport = FlakyTransport(unheard: 3, breaks: 1)
    let host = RemoteHost(transport.inner, as: name)
    defer { host.close() }
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    let remote = RemoteProxy(try Vault.interface(), transport, at: name, deadline: .seconds(300))
    await #expect(throws: RemoteError.interrupted) { try await Vault.deposit(7, on: remote) }
    #expect(try await Vault.deposit(7, on: remote) == 7)
    #expect(transport.requests.load(ordering: .relaxed) == 4)
  }

  @Test("a call that finds no listener until its deadline fails as unreachable")
  func neverHeard() async throws {
    let transport = FlakyTransport(unheard: .max)
    let remote = RemoteProxy(try Vault.interface(), transport, at: name)
    remote.deadline = .seconds(1)
    var before = 0
    repeat {
      before = transport.requests.load(ordering: .relaxed)
      transport.observers.tell(.restored)
      #expect(
        await isUnheard {
          try await Vault.deposit(7, on: remote)
        })
      // On a busy machine, the deadline may pass before the second attempt.
    } while transport.requests.load(ordering: .relaxed) < before + 2
    transport.observers.tell(.restored)
    #expect(try await remote.ping(within: .milliseconds(50)) == 0)
    // A cancelled call does not wait for a listener either.
    remote.deadline = .seconds(300)
    let call = Task {
      // Reported here, as a busy machine may begin a task when the time is long over.
      transport.observers.tell(.restored)
      return try await Vault.deposit(7, on: remote)
    }
    call.cancel()
    await #expect(throws: RemoteError.cancelled) { try await call.value }
  }

  /// A transport within this process that has no listener for the first requests.
  private final class FlakyTransport: Transport {
    let inner = InProcessTransport()
    let observers = TransportObservers()
    let requests = Atomic(0)
    private let unheard: Int
    private let breaks: Int

    init(unheard: Int, breaks: Int = 0) { (self.unheard, self.breaks) = (unheard, breaks) }

    var maximumPayload: Int { inner.maximumPayload }

    func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
      try inner.publish(payload, to: subject)
    }

    func request(
      _ payload: [UInt8], to subject: RemoteSubject,
      _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
    ) throws(TransportError) -> any TransportRequest {
      let number = requests.wrappingAdd(1, ordering: .relaxed).newValue
      let isUnheard = number <= unheard
      if number <= breaks {
        return try inner.request(payload, to: "nowhere") { _ in answered(.failure(.interrupted)) }
      }
      return try inner.request(payload, to: isUnheard ? "nowhere" : subject, answered)
    }

    func subscribe(
      to subject: RemoteSubject, group: String?,
      _ receive: @escaping @Sendable (TransportMessage) -> Void
    ) throws(TransportError) -> any TransportSubscription {
      try inner.subscribe(to: subject, group: group, receive)
    }

    func flush(within limit: Duration) async throws(TransportError) {}

    func onChange(
      _ changed: @escaping @Sendable (TransportState) -> Void
    ) -> any TransportSubscription {
      observers.add(changed)
    }

    func close() { inner.close() }
  }
}
