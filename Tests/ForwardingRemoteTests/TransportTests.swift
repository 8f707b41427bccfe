// SPDX-License-Identifier: Apache-2.0
import ForwardingNATS
import ForwardingRemote
import ForwardingTestSupport
import ForwardingWire
import Invocations
import RemoteTestSupport
import Testing

/// What each transport promises, without calls.
@Suite("Transports")
struct TransportTests {
  /// Subjects of this test alone, as a server is shared.
  private let number = UInt32.random(in: 0 ... .max)
  private var echo: RemoteSubject { RemoteSubject("echo.\(number)") }
  private var nowhere: RemoteSubject { RemoteSubject("nowhere.\(number)") }

  private func echo(_ transport: any Transport) throws -> any TransportSubscription {
    try transport.subscribe(to: echo, group: nil) { $0.answer?($0.payload) }
  }

  @Test(
    "concurrent requests, also the first ones of a connection, each get their own answer, or learn that there is no listener",
    arguments: Way.allCases)
  func together(way: Way) async throws {
    for count in [256] + Array(repeating: 4, count: 300) {
      let (there, here) = try way.ends()
      let listener = try echo(there)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
          group.addTask { [echo, nowhere] in
            let (isHeard, bytes) = (number % 3 == 2, [UInt8(number)])
            let answer = try await ask(here, bytes, isHeard ? echo : nowhere)
            #expect(answer == (isHeard ? .success(bytes) : .failure(.nobodyListens)))
          }
        }
        try await group.waitForAll()
      }
      listener.end()
      here.close()
      there.close()
    }
  }

  @Test(
    "a report of no listener for a request that has ended does not affect the next one",
    arguments: Way.allCases)
  func givenUp(way: Way) async throws {
    let (there, here) = try way.ends()
    let listener = try echo(there)
    defer { listener.end() }
    for number in UInt8.min...(.max) {
      try here.request([0], to: nowhere) { _ in }.end()
      #expect(try await ask(here, [number], echo) == .success([number]))
    }
  }

  @Test(
    "messages with and without an answer arrive in the order in which they were sent",
    arguments: Way.allCases)
  func order(way: Way) async throws {
    let (there, here) = try way.ends()
    let seen = LockedValue<[UInt8]>([])
    let listener = try there.subscribe(to: echo, group: nil) { message in
      seen.withLock { $0 += message.payload }
      message.answer?([])
    }
    defer { listener.end() }
    for number in UInt8.min...(.max) {
      if number % 10 == 9 {
        _ = try await ask(here, [number], echo)
      } else {
        try here.publish([number], to: echo)
      }
    }
    try await eventually { seen.withLock { $0.count == 256 } }
    #expect(seen.withLock { $0 } == Array(.min...(.max)))
  }

  @Test("the closure that gets an answer can subscribe and close", arguments: Way.allCases)
  func reentering(way: Way) async throws {
    let (there, here) = try way.ends()
    let listener = try echo(there)
    defer { listener.end() }
    let (ends, feed) = AsyncStream.makeStream(of: TransportError?.self)
    for _ in 0..<3 {
      let request = try here.request([1], to: echo) { [nowhere] _ in
        do throws(TransportError) {
          // It waits for the server's reply, which arrives over the same connection.
          try here.subscribe(to: nowhere, group: nil) { $0.answer?([2]) }.end()
          feed.yield(nil)
        } catch {
          feed.yield(error)
        }
      }
      #expect(await ends.first { _ in true } == .some(nil))
      request.end()
    }
    #expect(try await ask(here, [3], echo) == .success([3]))
    let last = try here.request([1], to: echo) { _ in
      here.close()
      feed.yield(nil)
    }
    #expect(await ends.first { _ in true } == .some(nil))
    last.end()
    #expect(throws: TransportError.closed) { try here.publish([1], to: echo) }
  }

  @Test(
    "a message or a result that is larger than the transport carries is refused where it is sent",
    arguments: Way.allCases)
  func large(way: Way) async throws {
    try await large(way.ends())
  }

  #if NATS
    @Test("a server may have a smaller limit", .natsServer)
    func largeForServer() async throws {
      let folder = try TemporaryFolder()
      let server = try NATSServer(configuration: "max_payload: 65536", in: folder)
      let ends = (try server.connect(), try server.connect())
      #expect(ends.1.maximumPayload == 65536)
      try await large(ends)
    }
  #endif

  private func large(_ ends: (any Transport, any Transport)) async throws {
    let bank = try Bank(ends)
    let limit = bank.here.maximumPayload
    let (fitting, large) = (
      [UInt8](repeating: 0, count: limit), [UInt8](repeating: 0, count: limit + 1)
    )
    let error = TransportError.tooLarge(limit: limit, given: limit + 1)
    let isShared = bank.here === bank.there
    let received = LockedValue<[Int]>([])
    let listener = try bank.there.subscribe(to: echo, group: nil) { message in
      received.withLock { $0.append(message.payload.count) }
      // An answer that is too large is dropped; within a process nothing is.
      if !isShared { message.answer?(large) }
      message.answer?([1])
    }
    defer { listener.end() }
    #expect(throws: error) { try bank.here.publish(large, to: echo) }
    #expect(throws: error) { try bank.here.request(large, to: echo) { _ in } }
    try bank.here.publish(fitting, to: echo)
    #expect(try await ask(bank.here, fitting, echo) == .success([1]))
    #expect(received.withLock { $0 } == [limit, limit])
    // The answer has 20 bytes in front of the text, and four for its length.
    #expect(try await Vault.text(limit - 24, on: bank.remote).utf8.count == limit - 24)
    await #expect(throws: RemoteError.refused(.unsendableResult, "\(error)")) {
      try await Vault.text(limit - 23, on: bank.remote)
    }
    #expect(bank.host.statistics.refused == 1)
  }

  @Test(
    "a subject of more than 1,024 bytes is refused, and the connection goes on",
    arguments: Way.outside)
  func subjects(way: Way) async throws {
    let ends = try way.ends()
    let room = 1024 - "forwarding..bank.cancel".utf8.count
    func name(_ count: Int) -> String {
      "\(number)" + String(repeating: "x", count: count - "\(number)".utf8.count)
    }
    let bank = try Bank(ends, as: name(room))
    for count in [5000, 70_000] {
      let name = name(count)
      let error = TransportError.tooLarge(limit: 1024, given: count + "forwarding..bank".utf8.count)
      #expect(throws: error) { try Bank(ends, as: name) }
      let remote = try bank.proxy(at: name)
      await #expect(throws: RemoteError.notCarried(error)) {
        try await Vault.deposit(7, on: remote)
      }
      #expect(throws: RemoteError.notCarried(error)) { try Vault.add.message(7, on: remote) }
    }
    #expect(try await Vault.deposit(7, on: bank.remote) == 7)
  }

  @Test("two subjects with the same number are refused when they are subscribed to")
  func sameNumber() throws {
    let transport = InProcessTransport()
    func subscribe(_ name: String) throws -> any TransportSubscription {
      try transport.subscribe(to: RemoteSubject(known: name, number: 7), group: nil) { _ in }
    }
    let first = try subscribe("a")
    #expect(
      throws: TransportError.failed("'b' and 'a' have the same hash: rename one of them")
    ) { try subscribe("b") }
    first.end()
    try subscribe("b").end()
  }
}

@Suite("Many observers of one transport", .serialized)
struct ManyObserversTests {
  private final class Object: Sendable {}

  @Test("adding and ending observers takes a time that grows with their number alone")
  func observers() {
    let growth = CPUTime.growth { count in
      let observers = TransportObservers<TransportState>()
      return CPUTime.milliseconds {
        let all = (0..<count).map { _ in observers.add { _ in } }
        for one in all { one.end() }
      }
    }
    #expect(growth < CPUTime.linear, "\(growth) times")
  }

  @Test("exposing objects by a host takes a time that grows with their number alone")
  func exposures() throws {
    let growth = try CPUTime.growth { count in
      let host = RemoteHost(InProcessTransport(), as: "many")
      defer { host.close() }
      let interfaces = (0..<count).map { Interface("object\($0)") }
      let object = Object()
      return try CPUTime.milliseconds {
        for interface in interfaces { try host.expose(object, interface) }
      }
    }
    #expect(growth < CPUTime.linear, "\(growth) times")
  }

  @Test("observers are notified in the order in which they were added, even if some have ended")
  func order() {
    let observers = TransportObservers<TransportState>()
    let told = Guarded<[Int]>([])
    let all = (0..<100).map { number in
      observers.add { _ in told.withLockInPlace { $0.append(number) } }
    }
    for number in stride(from: 0, to: 100, by: 3) { all[number].end() }
    all[3].end()
    observers.tell(.interrupted)
    #expect(told.read { $0 } == (0..<100).filter { $0 % 3 != 0 })
  }
}
