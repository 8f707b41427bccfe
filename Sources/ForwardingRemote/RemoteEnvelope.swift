// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingWire

// The headers of a request and of its answer. Integers are little-endian.
//
//   a request                          an answer
//    0  1  version, 2                   0  1  version, 2
//    1  1  kind                         1  1  kind
//    2  2  time left                    2  1  reason of a refusal, or zero
//    4  8  number of the request        3  1  zero
//   12     the call                     4  8  the same number
//                                      12  8  host
//                                      20     the body, which depends on the kind
//
// A refusal because of the version has this header in all later versions, but for its first byte.

/// A request as it is sent.
package struct RemoteRequest {
  package enum Kind: UInt8 {
    /// A call whose caller waits for the answer.
    case asked = 1
    /// A call without an answer.
    case told = 2
    /// The caller of the request with the same number no longer waits.
    case cancel = 4
  }

  /// Identifies a call. The peer is part of the key, so another process cannot name the call, as
  /// far as the transport tells processes apart.
  struct Key: Hashable {
    let number: UInt64
    let peer: TransportPeer
  }

  static let version: UInt8 = 2
  package static let head = 12

  package let kind: Kind
  /// A random number, which only the hosts of the request learn.
  let number: UInt64
  /// How long the caller still waits; 0 if it does not wait.
  var milliseconds: UInt32
  package let call: ArraySlice<UInt8>

  init(
    _ kind: Kind, number: UInt64, milliseconds: UInt32 = 0, call: ArraySlice<UInt8> = []
  ) {
    self.kind = kind
    self.number = number
    self.milliseconds = milliseconds
    self.call = call
  }

  func key(of peer: TransportPeer) -> Key { Key(number: number, peer: peer) }

  /// The header alone, without a call.
  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.head)
    write(to: &bytes)
    return bytes
  }

  /// Writes the header into the room in front of a call.
  func write(to message: inout [UInt8]) {
    message[0] = Self.version
    message[1] = kind.rawValue
    message.set(Self.time(UInt64(milliseconds)), at: 2)
    message.set(number, at: 4)
  }

  /// Writes how long the caller still waits, which is less when a message is sent again. Returns
  /// false if no time is left.
  static func setTimeLeft(until end: DispatchTime, in message: inout [UInt8]) -> Bool {
    let (end, now) = (end.uptimeNanoseconds, DispatchTime.now().uptimeNanoseconds)
    guard end > now else { return false }
    message.set(time(max(1, (end - now) / 1_000_000)), at: 2)
    return true
  }

  /// A time in two bytes: a number of milliseconds in 11 bits, and above it how often the number is
  /// doubled. It is rounded up by less than a thousandth, so that no host ends a call too early.
  private static func time(_ milliseconds: UInt64) -> UInt16 {
    let most = UInt64(UInt32.max)
    var (number, doubled) = (min(milliseconds, most), UInt16(0))
    while number >= 1 << 11 {
      number = (number + 1) / 2
      doubled += 1
    }
    return UInt16(number) | doubled << 11
  }

  private static func milliseconds(_ time: UInt16) -> UInt32 {
    UInt32(clamping: UInt64(time & 0x7FF) << UInt64(time >> 11))
  }

  /// Decodes a request of another process.
  ///
  /// - Throws: ``RemoteRefusal/malformed`` or ``RemoteRefusal/version``.
  init(_ bytes: [UInt8]) throws(RemoteRefusal) {
    guard let version = bytes.first else { throw .malformed }
    guard version == Self.version else { throw .version }
    guard bytes.count >= Self.head, let kind = Kind(rawValue: bytes[1]) else { throw .malformed }
    self.init(
      kind, number: bytes.uint64(at: 4), milliseconds: Self.milliseconds(bytes.uint16(at: 2)),
      call: bytes[Self.head...])
  }
}

/// An answer as it is sent. It contains the number of its request, so it does not depend on the way
/// by which it arrives.
package struct RemoteAnswer: Sendable {
  package enum Kind: UInt8, Sendable {
    case answered = 0x81
    /// The target threw an error: a code of four bytes, and a text.
    case failed = 0x82
    /// The call was refused: a text.
    case refused = 0x83
  }

  package static let head = 20
  /// The most bytes of a text.
  static let text = 4096

  let kind: Kind
  let refusal: UInt8
  let host: UInt64
  /// The whole message; the number of the request may not be filled in yet.
  private(set) var bytes: [UInt8]

  var body: ArraySlice<UInt8> { bytes[Self.head...] }

  package init(_ kind: Kind, refusal: UInt8 = 0, host: UInt64, body: ArraySlice<UInt8> = []) {
    self.init(
      kind, refusal: refusal, host: host, room: [UInt8](repeating: 0, count: Self.head) + body)
  }

  /// Makes an answer of bytes that begin with room for the header.
  init(_ kind: Kind, refusal: UInt8 = 0, host: UInt64, room bytes: consuming [UInt8]) {
    bytes[0] = RemoteRequest.version
    bytes[1] = kind.rawValue
    bytes[2] = refusal
    bytes.set(host, at: 12)
    self.init(kind, refusal, host, whole: bytes)
  }

  private init(_ kind: Kind, _ refusal: UInt8, _ host: UInt64, whole bytes: consuming [UInt8]) {
    (self.kind, self.refusal, self.host, self.bytes) = (kind, refusal, host, bytes)
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

  /// The answer with its text cut to what a transport carries. A result is not cut.
  consuming func withText(within limit: Int) -> RemoteAnswer {
    let least = kind == .failed ? Self.head + 4 : Self.head
    guard kind == .failed || kind == .refused, bytes.count > max(least, limit) else { return self }
    bytes.removeLast(bytes.count - max(least, limit))
    return self
  }

  /// The whole message that answers a request. If the request is too short to have a number, that
  /// of the answer is 0.
  consuming func addressed(to request: [UInt8]) -> [UInt8] {
    bytes.set(request.count >= RemoteRequest.head ? request.uint64(at: 4) : 0, at: 4)
    return bytes
  }

  /// Decodes an answer of another process; nil if it is malformed, or does not answer the request.
  init?(_ bytes: [UInt8], to request: UInt64) {
    guard bytes.count >= Self.head, bytes.uint64(at: 4) == request else { return nil }
    guard bytes[3] == 0, let kind = Kind(rawValue: bytes[1]) else { return nil }
    let isOfOtherVersion = kind == .refused && bytes[2] == RemoteRefusal.version.rawValue
    guard bytes[0] == RemoteRequest.version || isOfOtherVersion,
      kind != .failed || bytes.count >= Self.head + 4
    else { return nil }
    self.init(kind, bytes[2], bytes.uint64(at: 12), whole: bytes)
  }

  /// The bytes of the result.
  ///
  /// - Throws: ``RemoteError/refused(_:_:)`` or ``RemoteError/failed(code:text:)`` if that is the
  ///   answer.
  func result() throws(RemoteError) -> ArraySlice<UInt8> {
    switch kind {
    case .answered: return body
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
