// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingWire

// The headers of a request and of its answer. Integers are little-endian.
//
//   a request                          an answer
//    0  2  version, 1                   0  2  version, 1
//    2  1  kind                         2  1  kind
//    3  1  zero                         3  1  reason of a refusal, or zero
//    4  8  sender                       4  8  the same sender
//   12  8  number of the request       12  8  the same number
//   20  4  milliseconds left           20  8  host
//   24     the call                    28     the body, which depends on the kind

/// A request as it is sent.
package struct RemoteRequest {
  package enum Kind: UInt8 {
    /// A call whose caller waits for the answer.
    case asked = 1
    /// A call without an answer.
    case told = 2
    /// Asks which hosts are there.
    case ping = 3
    /// The caller of the request with the same sender and number no longer waits.
    case cancel = 4
  }

  /// Identifies a call. The peer is part of the key, so another process cannot name the call, as
  /// far as the transport tells processes apart.
  struct Key: Hashable {
    let sender: UInt64
    let number: UInt64
    let peer: TransportPeer
  }

  static let version: UInt16 = 1
  static let head = 24

  package let kind: Kind
  /// A random number of the sending proxy.
  let sender: UInt64
  let number: UInt64
  /// How long the caller still waits; 0 if it does not wait.
  var milliseconds: UInt32
  package let call: ArraySlice<UInt8>

  init(
    _ kind: Kind, sender: UInt64, number: UInt64, milliseconds: UInt32 = 0,
    call: ArraySlice<UInt8> = []
  ) {
    self.kind = kind
    self.sender = sender
    self.number = number
    self.milliseconds = milliseconds
    self.call = call
  }

  func key(of peer: TransportPeer) -> Key { Key(sender: sender, number: number, peer: peer) }

  /// The header alone, without a call.
  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.head)
    write(to: &bytes)
    return bytes
  }

  /// A call with room for the header in front of it.
  static func behindRoom(_ call: [UInt8]) -> [UInt8] {
    [UInt8](repeating: 0, count: head) + call
  }

  /// Writes the header into the room in front of a call.
  func write(to message: inout [UInt8]) {
    message.set(Self.version, at: 0)
    message[2] = kind.rawValue
    message.set(sender, at: 4)
    message.set(number, at: 12)
    message.set(milliseconds, at: 20)
  }

  /// Writes how long the caller still waits, which is less when a message is sent again.
  static func setTimeLeft(until end: DispatchTime, in message: inout [UInt8]) {
    let (end, now) = (end.uptimeNanoseconds, DispatchTime.now().uptimeNanoseconds)
    message.set(UInt32(clamping: max(1, end > now ? (end - now) / 1_000_000 : 0)), at: 20)
  }

  /// Decodes a request of another process.
  ///
  /// - Throws: ``RemoteRefusal/malformed`` or ``RemoteRefusal/version``.
  init(_ bytes: [UInt8]) throws(RemoteRefusal) {
    guard bytes.count >= Self.head else { throw .malformed }
    guard bytes.uint16(at: 0) == Self.version else { throw .version }
    guard let kind = Kind(rawValue: bytes[2]), bytes[3] == 0 else { throw .malformed }
    self.init(
      kind, sender: bytes.uint64(at: 4), number: bytes.uint64(at: 12),
      milliseconds: bytes.uint32(at: 20), call: bytes[Self.head...])
  }
}

/// An answer as it is sent. It contains the sender and number of its request, so it does not depend
/// on the way by which it arrives.
package struct RemoteAnswer: Sendable {
  package enum Kind: UInt8, Sendable {
    case answered = 0x81
    /// The target threw an error: a code of four bytes, and a text.
    case failed = 0x82
    /// The call was refused: a text.
    case refused = 0x83
    case pong = 0x84
  }

  package static let head = 28
  /// The most bytes of a text.
  static let text = 4096

  let kind: Kind
  let refusal: UInt8
  let host: UInt64
  /// The whole message; the sender and number of the request may not be filled in yet.
  private(set) var bytes: [UInt8]

  var body: ArraySlice<UInt8> { bytes[Self.head...] }

  package init(_ kind: Kind, refusal: UInt8 = 0, host: UInt64, body: ArraySlice<UInt8> = []) {
    self.init(
      kind, refusal: refusal, host: host, room: [UInt8](repeating: 0, count: Self.head) + body)
  }

  /// Makes an answer of bytes that begin with room for the header.
  init(_ kind: Kind, refusal: UInt8 = 0, host: UInt64, room bytes: consuming [UInt8]) {
    self.kind = kind
    self.refusal = refusal
    self.host = host
    bytes.set(RemoteRequest.version, at: 0)
    bytes[2] = kind.rawValue
    bytes[3] = refusal
    bytes.set(host, at: 20)
    self.bytes = bytes
  }

  package static func refused(_ refusal: RemoteRefusal, _ text: String, host: UInt64)
    -> RemoteAnswer
  {
    RemoteAnswer(
      .refused, refusal: refusal.rawValue, host: host, body: ArraySlice(Self.cut(text)))
  }

  package static func failed(_ error: any Error, host: UInt64) -> RemoteAnswer {
    var body: [UInt8] = [0, 0, 0, 0]
    let failure = error as? any RemoteFailure
    body.set(UInt32(bitPattern: failure?.remoteCode ?? 0), at: 0)
    body += cut(failure?.remoteText ?? "")
    return RemoteAnswer(.failed, host: host, body: body[...])
  }

  /// Fills in the sender and number of a request. If the request is too short to have them, they
  /// are 0.
  mutating func address(to request: [UInt8]) {
    let isWhole = request.count >= 20
    let (sender, number) = isWhole ? (request.uint64(at: 4), request.uint64(at: 12)) : (0, 0)
    if bytes.uint64(at: 4) == sender, bytes.uint64(at: 12) == number { return }
    bytes.set(sender, at: 4)
    bytes.set(number, at: 12)
  }

  /// The whole message that answers a request.
  func bytes(to request: [UInt8]) -> [UInt8] {
    var answer = self
    answer.address(to: request)
    return answer.bytes
  }

  /// Decodes an answer of another process; nil if it is malformed, or does not answer the request.
  init?(_ bytes: [UInt8], to request: RemoteRequest) {
    guard bytes.count >= Self.head, bytes.uint16(at: 0) == RemoteRequest.version,
      let kind = Kind(rawValue: bytes[2]), bytes.uint64(at: 4) == request.sender,
      bytes.uint64(at: 12) == request.number
    else { return nil }
    if kind == .failed, bytes.count < Self.head + 4 { return nil }
    self.kind = kind
    refusal = bytes[3]
    host = bytes.uint64(at: 20)
    self.bytes = bytes
  }

  /// The bytes of the result.
  ///
  /// - Throws: ``RemoteError/refused(_:_:)`` or ``RemoteError/failed(code:text:)`` if that is the
  ///   answer.
  func result() throws(RemoteError) -> ArraySlice<UInt8> {
    switch kind {
    case .answered, .pong: return body
    case .refused:
      throw .refused(RemoteRefusal(rawValue: refusal) ?? .other, Self.text(of: body))
    case .failed:
      let code = Int32(bitPattern: bytes.uint32(at: Self.head))
      throw .failed(code: code, text: Self.text(of: body.dropFirst(4)))
    }
  }

  /// Decodes a text of another process, up to the limit of its length.
  private static func text(of bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.prefix(text), as: UTF8.self)
  }

  private static func cut(_ text: String) -> [UInt8] { Array(text.utf8.prefix(Self.text)) }
}
