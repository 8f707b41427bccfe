// SPDX-License-Identifier: Apache-2.0
import ForwardingActors
import ForwardingRemote
import Synchronization

/// A call that is encoded by hand, as described in Documentation/Wire.md.
struct RawCall {
  var actor = "clerk"
  var method: String
  var arguments: [String] = []

  var bytes: [UInt8] {
    var bytes: [UInt8] = [1, 0]
    for count in [actor.utf8.count, method.utf8.count, arguments.count] {
      bytes += [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
    }
    bytes += Array(actor.utf8) + Array(method.utf8)
    for argument in arguments {
      let count = argument.utf8.count
      bytes += (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + Array(argument.utf8)
    }
    return bytes
  }

  /// A request with a call. Its number distinguishes it from others.
  static func request(_ call: [UInt8], number: UInt16) -> [UInt8] {
    // A second is left.
    [2, 1, 0xE8, 3] + [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]
      + [UInt8](repeating: 0, count: 6) + call
  }
}

/// The decoded answer of a node.
struct RawAnswer: Equatable {
  var kind: UInt8
  var refusal: RemoteRefusal?
  var body: String

  static let answered: UInt8 = 0x81

  init(_ bytes: [UInt8]) {
    kind = bytes.count >= 20 ? bytes[1] : 0
    refusal = kind == 0x83 ? RemoteRefusal(rawValue: bytes[2]) : nil
    body = String(decoding: bytes.dropFirst(20), as: UTF8.self)
  }
}

extension Nodes {
  /// Sends bytes to the other node, and returns its answer.
  func answer(to request: [UInt8]) async throws -> RawAnswer {
    let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
    let subject = RemoteSubject(parts: "forwarding-actors", there.node)
    let pending = try transports.1.request(request, to: subject) {
      if let answer = try? $0.get() { continuation.yield(answer) }
      continuation.finish()
    }
    defer { pending.end() }
    for await answer in stream { return RawAnswer(answer) }
    return RawAnswer([])
  }

  func answer(to call: RawCall) async throws -> RawAnswer {
    try await answer(to: RawCall.request(call.bytes, number: .random(in: 0 ... .max)))
  }

  /// The mangled name of the method that a closure calls.
  func method(
    _ call: (MessagingActorSystem.ActorID, MessagingActorSystem) async throws -> Void
  ) async throws -> String {
    let listener = "listener \(UInt32.random(in: 0 ... .max))"
    let heard = Heard()
    let subject = RemoteSubject(parts: "forwarding-actors", listener)
    let subscription = try transports.1.subscribe(to: subject, group: nil) { message in
      heard.set(message.payload)
      message.answer?(
        [2, 0x83, 255, 0] + message.payload[4..<12] + [UInt8](repeating: 0, count: 8))
    }
    defer { subscription.end() }
    try? await call(.init("clerk", at: listener), here)
    let bytes = heard.bytes.dropFirst(12)
    let start = bytes.startIndex
    guard bytes.count > 8 else { return "" }
    let counts = [2, 4].map { Int(bytes[start + $0]) | Int(bytes[start + $0 + 1]) << 8 }
    return String(decoding: bytes.dropFirst(8 + counts[0]).prefix(counts[1]), as: UTF8.self)
  }

  /// Stores the last message.
  private final class Heard: @unchecked Sendable {
    // Written before the message is answered, and read after that.
    private(set) var bytes: [UInt8] = []
    func set(_ bytes: [UInt8]) { self.bytes = bytes }
  }
}
