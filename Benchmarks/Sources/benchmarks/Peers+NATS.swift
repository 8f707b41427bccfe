// SPDX-License-Identifier: Apache-2.0
import CallBenchmarks
import Foundation

#if HAS_NATS
  import Forwarding
  import ForwardingNATS
  import ForwardingRemote
  import PeerNATS
#endif

// Calls over NATS and over libnats alone, with a server that this process starts.
extension Peers {
  static func nats() throws -> [Benchmark] {
    #if HAS_NATS
      guard let server = NATSServer.shared else { return [] }
      let url = server.url
      let (call, answer) = (Int32(RemoteCalls.call), Int32(RemoteCalls.answer))
      guard let bare = unsafe peer_nats_begin(url, "bare", answer, true),
        let buffered = unsafe peer_nats_begin(url, "buffered", answer, false)
      else { throw TransportError.unreachable(url) }
      func check(_ isDone: Bool) throws {
        guard isDone else { throw TransportError.failed("libnats has no answer") }
      }
      let calls = try RemoteCalls(NATSTransport(url), at: NATSTransport(url))
      let town = try Town(url)
      return [
        Benchmark("nats/request/bare-10") { count in
          try check(unsafe peer_nats_request(bare, call, 10 * count))
        },
        Benchmark("remote/nats/ask-10", over: "nats/request/bare-10") { try calls.ask(10 * $0) },
        Benchmark("remote/nats/at-once-100") { count in
          for _ in 0..<count { try calls.askAtOnce(100) }
        },
        Benchmark("nats/publish/bare-1000") { count in
          try check(unsafe peer_nats_publish(bare, call, 1000 * count))
        },
        Benchmark("nats/publish/buffered-1000") { count in
          try check(unsafe peer_nats_publish(buffered, call, 1000 * count))
        },
        Benchmark("remote/nats/tell-1000", over: "nats/publish/buffered-1000") {
          try calls.tell(1000 * $0)
        },
        Benchmark("remote/nats/ask-face-10") { try town.ask(10 * $0) },
        Benchmark("nats/gather/bare-10") { count in
          try check(unsafe peer_nats_gather(bare, call, 10 * count))
        },
        Benchmark("remote/nats/gather-3-10", over: "nats/gather/bare-10") {
          try town.gather(10 * $0)
        },
      ]
    #else
      return []
    #endif
  }
}

#if HAS_NATS
  /// A NATS server that ends with this process.
  final class NATSServer {
    static let program = [
      "/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server",
    ]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

    nonisolated(unsafe) static let shared: NATSServer? = try? NATSServer()
    let url: String
    private let process = Process()

    private init() throws {
      guard let program = Self.program else { throw CocoaError(.fileNoSuchFile) }
      let port = Int.random(in: 20_000..<60_000)
      url = "nats://127.0.0.1:\(port)"
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = ["-a", "127.0.0.1", "-p", "\(port)"]
      process.standardError = FileHandle.nullDevice
      try process.run()
      atexit { unsafe NATSServer.shared?.process.terminate() }
      for _ in 0..<100 {
        if let probe = try? NATSTransport(url) {
          probe.close()
          return
        }
        usleep(20_000)
      }
      throw CocoaError(.fileReadUnknown)
    }
  }

  @Forwardable
  protocol Voting: AnyObject, Sendable {
    func vote(_ question: Int, _ count: Int32, _ more: Int) async throws -> Int
  }

  /// Three hosts with one name, each with its own connection, and a single host.
  private final class Town: Sendable {
    private final class Citizen: Voting {
      func vote(_ question: Int, _ count: Int32, _ more: Int) -> Int { question }
    }

    private let hosts: [RemoteHost]
    private let town: Remote<VotingProxy>
    private let alone: Remote<VotingProxy>

    init(_ url: String) throws {
      hosts = try ["town", "town", "town", "alone"].map { name in
        let host = RemoteHost(try NATSTransport(url), as: name)
        try host.expose(Citizen(), as: VotingProxy.self)
        return host
      }
      let transport = try NATSTransport(url)
      town = try Remote(transport, at: "town", deadline: .seconds(10))
      alone = try Remote(transport, at: "alone", deadline: .seconds(10))
    }

    func ask(_ count: Int) throws {
      try RemoteCalls.waiting { [alone] in
        for index in 0..<count { _ = try await alone.face.vote(index, 7, 1) }
      }
    }

    func gather(_ count: Int) throws {
      try RemoteCalls.waiting { [town] in
        for index in 0..<count {
          let votes = try await town.gather(expecting: 3) { try await $0.vote(index, 7, 1) }
          precondition(votes.values.count == 3, "somebody did not answer")
        }
      }
    }
  }
#endif
