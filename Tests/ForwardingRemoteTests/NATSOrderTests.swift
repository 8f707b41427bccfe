// SPDX-License-Identifier: Apache-2.0
#if NATS
  import ForwardingTestSupport
  import ForwardingNATS
  import ForwardingRemote
  import Foundation
  import RemoteTestSupport
  import Testing

  @Suite(
    "The order of messages over a NATS connection", .serialized, .timeLimit(.minutes(60)),
    .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
  struct NATSOrderTests {
    /// Two connections to a server of their own, of which the second one echoes.
    private let server: NATSServer
    private let here: NATSTransport
    private let there: NATSTransport
    private let listener: any TransportSubscription

    init() throws {
      server = try NATSServer()
      (here, there) = (try server.connect(), try server.connect())
      listener = try Self.echo(there)
    }

    private static func echo(_ transport: NATSTransport) throws -> any TransportSubscription {
      try transport.subscribe(to: "echo", group: nil) { $0.answer?($0.payload) }
    }

    @Test(
      "concurrent requests each get their own answer, or learn that there is no listener")
    func together() async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in UInt8.min...(.max) {
          group.addTask { [here] in
            let isHeard = number % 3 != 0
            let answer = try await ask(here, [number], isHeard ? "echo" : "nowhere")
            #expect(answer == (isHeard ? .success([number]) : .failure(.nobodyListens)))
          }
        }
        try await group.waitForAll()
      }
    }

    @Test("a report of no listener for a request that has ended does not affect the next one")
    func givenUp() async throws {
      for number in UInt8.min...(.max) {
        try here.request([0], to: "nowhere") { _ in }.end()
        #expect(try await ask(here, [number], "echo") == .success([number]))
      }
    }

    @Test("messages with and without an answer arrive in the order in which they were sent")
    func order() async throws {
      let seen = LockedValue<[UInt8]>([])
      let listener = try there.subscribe(to: "news", group: nil) { message in
        seen.withLock { $0 += message.payload }
        message.answer?([])
      }
      defer { listener.end() }
      for number in UInt8.min...(.max) {
        if number % 10 == 9 {
          _ = try await ask(here, [number], "news")
        } else {
          try here.publish([number], to: "news")
        }
      }
      try await eventually { seen.withLock { $0.count == 256 } }
      #expect(seen.withLock { $0 } == Array(.min...(.max)))
    }

    @Test("the closure that gets an answer can subscribe and close")
    func reentering() async throws {
      let (ends, feed) = AsyncStream.makeStream(of: TransportError?.self)
      for _ in 0..<3 {
        let request = try here.request([1], to: "echo") { [here] _ in
          do throws(TransportError) {
            // It waits for the server's reply, which arrives over the same connection.
            try here.subscribe(to: "more", group: nil) { $0.answer?([2]) }.end()
            feed.yield(nil)
          } catch {
            feed.yield(error)
          }
        }
        #expect(await ends.first { _ in true } == .some(nil))
        request.end()
      }
      #expect(try await ask(here, [3], "echo") == .success([3]))
      let last = try here.request([1], to: "echo") { [here] _ in
        here.close()
        feed.yield(nil)
      }
      #expect(await ends.first { _ in true } == .some(nil))
      last.end()
      #expect(throws: TransportError.closed) { try here.publish([1], to: "echo") }
    }

    @Test(
      "while a server is stopped, queued messages are limited, and the connection is made again")
    func still() async throws {
      var options = server.options()
      options.writeTimeout = .milliseconds(300)
      let here = try NATSTransport(options)
      let states = LockedValue<[TransportState]>([])
      let watch = here.onChange { state in states.withLock { $0.append(state) } }
      defer { watch.end() }
      server.signal(SIGSTOP)
      let bytes = [UInt8](repeating: 1, count: 64 << 10)
      var sent = 0
      let error = await #expect(throws: TransportError.self) {
        // Much more than the kernel and the process buffer.
        while sent < 10_000 {
          try here.publish(bytes, to: "news")
          sent += 1
          await Task.yield()
        }
      }
      #expect(error == .timedOut || error == .interrupted, "\(String(describing: error))")
      #expect(sent < 1000, "\(sent)")
      try await eventually { states.withLock { $0.contains(.interrupted) } }
      server.signal(SIGCONT)
      try await eventually { states.withLock { $0.contains(.restored) } }
      let listener = try Self.echo(here)
      defer { listener.end() }
      #expect(try await ask(here, [1], "echo") == .success([1]))
    }
  }
#endif
