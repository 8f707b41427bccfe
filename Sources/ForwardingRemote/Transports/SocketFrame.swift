// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// One message between two processes of a machine. Integers are little-endian.
///
///     0  1  kind
///     1  3  number of the request
///     4  8  number of the subject, if the kind has one
///           the payload
package struct SocketFrame {
  package enum Kind: UInt8 {
    case told = 0x11
    case asked = 0x12
    case answered = 0x13
    /// There is no listener for the request.
    case nobody = 0x14

    var head: Int { self == .told || self == .asked ? SocketFrame.head : 4 }
  }

  /// The most bytes in front of the payload.
  package static let head = 12
  /// The most bytes of a payload.
  static let mostPayload = 128 << 10
  /// The largest number of a request.
  static let lastNumber: UInt64 = 0xFF_FFFF

  package let kind: Kind
  package let number: UInt64
  /// See ``RemoteSubject/number``.
  let subject: UInt64
  package let payload: [UInt8]

  package init(_ kind: Kind, _ number: UInt64, _ subject: RemoteSubject?, _ payload: [UInt8]) {
    self.kind = kind
    self.number = number
    self.subject = subject?.number ?? 0
    self.payload = payload
  }

  /// Decodes a frame of another process; nil if it is malformed.
  package init?(_ bytes: [UInt8]) {
    guard let first = bytes.first, let kind = Kind(rawValue: first), bytes.count >= kind.head else {
      return nil
    }
    let head = Array(bytes[..<kind.head])
    self.kind = kind
    number = UInt64(head.uint32(at: 0) >> 8)
    subject = kind.head == Self.head ? head.uint64(at: 4) : 0
    payload = Array(bytes[kind.head...])
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(kind.head + payload.count)
    bytes += [kind.rawValue, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0].prefix(kind.head)
    bytes.set(UInt32(kind.rawValue) | UInt32(truncatingIfNeeded: number) << 8, at: 0)
    if kind.head == Self.head { bytes.set(subject, at: 4) }
    bytes += payload
    return bytes
  }
}
