// SPDX-License-Identifier: Apache-2.0
/// One message between two processes of a machine. Integers are little-endian.
///
///     0  1  kind
///     1  1  zero
///     2  2  bytes of the subject
///     4  8  number of the request
///    12     the subject, then the payload
package struct SocketFrame {
  package enum Kind: UInt8 {
    case told = 1
    case asked = 2
    case answered = 3
    /// There is no listener for the request.
    case nobody = 4
  }

  package static let head = 12
  /// The most bytes of a subject.
  package static let subject = RemoteSubject.limit

  package let kind: Kind
  package let number: UInt64
  let subject: RemoteSubject
  package let payload: [UInt8]

  package init(_ kind: Kind, _ number: UInt64, _ subject: RemoteSubject?, _ payload: [UInt8]) {
    self.kind = kind
    self.number = number
    self.subject = subject ?? RemoteSubject(known: "")
    self.payload = payload
  }

  /// Decodes a frame of another process; nil if it is malformed.
  package init?(_ bytes: [UInt8]) { self.init(bytes[...]) }

  /// Decodes a frame from bytes whose indices begin at 0.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= Self.head, let kind = Kind(rawValue: bytes[0]), bytes[1] == 0 else {
      return nil
    }
    let count = Int(bytes[2]) | Int(bytes[3]) << 8
    guard count <= Self.subject, Self.head + count <= bytes.count else { return nil }
    let name = String(validating: bytes[Self.head..<Self.head + count], as: UTF8.self)
    guard let name else { return nil }
    self.kind = kind
    number = (0..<8).reduce(0) { $0 | UInt64(bytes[4 + $1]) << (8 * UInt64($1)) }
    subject = RemoteSubject(known: name)
    payload = Array(bytes[(Self.head + count)...])
  }

  package var bytes: [UInt8] {
    let name = Array(subject.name.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.head + name.count + payload.count)
    bytes += [kind.rawValue, 0, UInt8(name.count & 255), UInt8(name.count >> 8)]
    for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))) }
    bytes += name
    bytes += payload
    return bytes
  }
}
