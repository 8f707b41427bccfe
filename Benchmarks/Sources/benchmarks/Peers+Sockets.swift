// SPDX-License-Identifier: Apache-2.0
import CallBenchmarks
import ForwardingRemote
import PeerC

#if HAS_BUS
  import PeerBus
#endif

// Baselines of calls over a socket: the socket alone, and D-Bus without a bus daemon.
extension Peers {
  static func sockets() throws -> [Benchmark] {
    func check(_ isDone: Bool) throws {
      guard isDone else { throw TransportError.failed("a peer has no answer") }
    }
    // The overhead of a call on the socket: a frame, and the subject of the rows `remote/socket/…`.
    let around = Int32(12 + "forwarding.benchmark.benchmark".utf8.count)
    guard let bare = unsafe peer_socket_begin(Int32(RemoteCalls.answer + 28 + 12)) else {
      throw TransportError.failed("there is no pair of sockets")
    }
    var rows = [
      Benchmark("socket/packets/bare-10") { count in
        try check(unsafe peer_socket_ask(bare, Int32(RemoteCalls.call) + around, 10 * count))
      }
    ]
    #if HAS_BUS
      guard let bus = unsafe peer_bus_begin() else { throw TransportError.failed("no sd-bus") }
      rows.append(
        Benchmark("sd-bus/private/ask-10", over: "socket/packets/bare-10") { count in
          try check(unsafe peer_bus_ask(bus, 10 * count))
        })
    #endif
    return rows
  }
}
