// SPDX-License-Identifier: Apache-2.0
import ForwardingRemote
import Invocations

/// For any description of a host, decoding accepts or ignores it, and an accepted one is encoded to
/// the same bytes.
enum PresenceFuzz {
  private static let subject: RemoteSubject = "forwarding-hosts"

  static func run(_ bytes: [UInt8]) throws {
    let read = RemotePresence(RemoteAnswer(.pong, host: 7, body: bytes[...]))
    if let read {
      let again = try RemotePresence.bytes(of: read.name, read.interfaces, limit: .max)
      try demand(again == bytes, "what a host says is not written as it was read")
      try demand(read.host == 7, "a host has another number")
    }
    try list(bytes, read)
  }

  /// Sends the bytes as an answer, alone and after a header, followed by the answer of another
  /// host.
  private static func list(_ bytes: [UInt8], _ read: RemotePresence?) throws {
    let transport = InProcessTransport()
    let good = try RemotePresence.bytes(of: "shop", ["one", ""], limit: .max)
    let listener = try transport.subscribe(to: subject, group: nil) { message in
      func answer(_ host: UInt8, _ body: [UInt8]) {
        message.answer?(
          FuzzEnvelope.answer(
            0x84, host: FuzzEnvelope.number(host), to: message.payload, body))
      }
      message.answer?(bytes)
      answer(7, bytes)
      answer(8, good)
    }
    defer { listener.end() }
    // All have answered before the wait begins. On a busy machine the time can be over before the
    // request is sent, which then asks no host.
    var all: [RemotePresence] = []
    func isListed() -> Bool {
      all.contains { $0.host == 8 && $0.name == "shop" && $0.interfaces == ["one", ""] }
    }
    for limit in [1, 20, 400, 8000] where !isListed() {
      all = try awaited("a list of hosts") {
        try await RemotePresence.all(on: transport, within: .milliseconds(limit))
      }
    }
    try demand(isListed(), "a host is not listed")
    if let read { try demand(all.contains(read), "what a host says is not listed") }
    try demand(all.count <= 3, "\(all.count) are listed")
    // A ping may be answered or not; the host keeps working.
    let host = RemoteHost(transport, as: "own")
    defer { host.close() }
    listener.end()
    try host.announce()
    try transport.publish(bytes, to: subject)
    let request = try transport.request(bytes, to: subject) { _ in }
    request.end()
    let own = try awaited("a list of hosts") {
      try await RemotePresence.all(on: transport, expecting: 1, within: .seconds(250))
    }
    try demand(own.map(\.name) == ["own"], "a host does not answer any more")
  }
}
