// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import Invocations
import RemoteTestSupport
import Testing

@Suite("The window of received calls", .timeLimit(.minutes(10)))
struct WindowTests {
  private static let subject: RemoteSubject = "forwarding.bank.bank"

  private func answer(_ payload: [UInt8], _ transport: InProcessTransport) throws -> [UInt8] {
    let answers = Guarded<[[UInt8]]>([])
    let request = try transport.request(payload, to: Self.subject) { answer in
      if case .success(let bytes) = answer { answers.withLock { $0.append(bytes) } }
    }
    request.end()
    return try #require(answers.read { $0.first })
  }

  /// A request of sender 9.
  private func request(_ number: Int, _ call: [UInt8]) -> [UInt8] {
    let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    return [1, 0, 1, 0] + [UInt8](repeating: 9, count: 8) + digits + [0, 0, 1, 0] + call
  }

  @Test("refused calls do not replace performed calls in the window")
  func refused() throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank")
    defer { host.close() }
    let vault = Vault()
    let interface = try Vault.interface()
    try host.expose(vault, interface)
    let call = try Message<Int32, Int32>("vaultDeposit:").invocation(5)
    let deposit = request(0, try interface.encode(call))
    let first = try answer(deposit, transport)
    #expect(first[2] == 0x81 && vault.balance == 5)
    host.authorize = { _ in false }
    for number in 1...5000 {
      #expect(try answer(request(number, [1, 2, 3]), transport)[2] == 0x83)
    }
    // A stored answer is not sent to a caller that has lost its permission.
    #expect(try answer(deposit, transport)[2] == 0x83)
    host.authorize = nil
    #expect(try answer(deposit, transport) == first)
    #expect(vault.balance == 5)
  }

  @Test("the last 4,096 calls are known, however often the window was full")
  func rounds() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank")
    defer { host.close() }
    let vault = Vault()
    let interface = try Vault.interface()
    try host.expose(vault, interface)
    let call = try interface.encode(Vault.deposit.message.invocation(1))
    for number in 0..<10_000 {
      _ = try answer(request(number, call), transport)
      // Other tasks get the thread now and then.
      if number % 100 == 0 { await Task.yield() }
    }
    #expect(vault.balance == 10_000)
    let answers = try ((10_000 - 4096)..<10_000).map {
      try Array(answer(request($0, call), transport).dropFirst(28))
    }
    #expect(answers == ((10_001 - 4096)...10_000).map { Envelope.bytes(of: Int32($0)) })
    #expect(vault.balance == 10_000 && host.statistics.duplicates == 4096)
    _ = try answer(request(10_000 - 4097, call), transport)
    #expect(vault.balance == 10_001)
  }

  @Test("a call that does not suspend is performed on the receiving thread, without a task")
  func atOnce() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank")
    defer { host.close() }
    let vault = Vault()
    vault.look = { withUnsafeCurrentTask { $0 != nil } }
    let interface = try Vault.interface()
    try host.expose(vault, interface)
    let deposit = request(
      0, try interface.encode(Message<Int32, Int32>("vaultDeposit:").invocation(5)))
    let done = await withCheckedContinuation { continuation in
      beginThread {
        continuation.resume(returning: Result { try answer(deposit, transport) })
      }
    }
    _ = try done.get()
    #expect(vault.balance == 5 && vault.looks == [false])
  }

  @Test("each proxy has its own random number, which only its host receives")
  func senders() async throws {
    let transport = InProcessTransport()
    let seen = Guarded<Set<[UInt8]>>([])
    let listener = try transport.subscribe(to: Self.subject, group: nil) { message in
      seen.withLock { _ = $0.insert(Array(message.payload[4..<12])) }
    }
    for _ in 0..<3 {
      let proxy = RemoteProxy(try Vault.interface(), transport, at: "bank")
      try Message<Void, Int32>("vaultAdd:")(1, on: proxy)
      try Message<Void, Int32>("vaultAdd:")(1, on: proxy)
    }
    listener.end()
    #expect(seen.read { $0.count } == 3)
  }

  @Test("a process that has seen a call cannot forge the next ones of the same sender")
  func forged() async throws {
    let transport = InProcessTransport()
    let host = RemoteHost(transport, as: "bank")
    defer { host.close() }
    let vault = Vault()
    let interface = try Vault.interface()
    try host.expose(vault, interface)
    let proxy = RemoteProxy(interface, transport, at: "bank", deadline: .seconds(300))
    // Another process receives the first call, as a member of a group may.
    let seen = Guarded<[UInt8]>([])
    let spy = try transport.subscribe(to: Self.subject, group: nil) { message in
      seen.withLock { $0 = message.payload }
    }
    #expect(try await Vault.deposit(1, on: proxy) == 1)
    spy.end()
    // It sends calls with the numbers that might be next.
    let first = seen.read { $0 }
    let number = (0..<8).reduce(0) { $0 | UInt64(first[12 + $1]) << (8 * UInt64($1)) }
    for next in 1...64 {
      var forged = first
      for byte in 0..<8 {
        forged[12 + byte] = UInt8(
          truncatingIfNeeded: (number &+ UInt64(next)) >> (8 * UInt64(byte)))
      }
      _ = try answer(forged, transport)
    }
    let before = vault.balance
    #expect(try await Vault.deposit(50, on: proxy) == before + 50)
  }
}
