// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// The address of messages: names separated by dots. It has no wildcards and no spaces, so a
/// subscriber gets the messages of one subject only.
///
/// ```swift
/// RemoteSubject("echo").name                  // echo
/// RemoteSubject(parts: "chat", "a.b *").name  // chat.a%2Eb%20%2A
/// ```
public struct RemoteSubject: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The text that the transport uses.
  public let name: String
  /// Stands for the name in the messages of a socket: its FNV-1a hash of 64 bits.
  let number: UInt64

  /// The most bytes of a name.
  package static let limit = 1024

  /// Checks the length of the name.
  ///
  /// - Throws: ``TransportError/tooLarge(limit:given:)`` if it is too long.
  package func check() throws(TransportError) {
    let count = name.utf8.count
    if count > Self.limit { throw .tooLarge(limit: Self.limit, given: count) }
  }

  /// Makes a subject of names, which may contain any characters.
  public init(parts: String...) {
    self.init(known: parts.map(Self.escaped).joined(separator: "."))
  }

  /// Makes a subject of a text in which dots separate the names.
  public init(_ text: String) {
    self.init(
      known: text.split(separator: ".", omittingEmptySubsequences: false)
        .map { Self.escaped(String($0)) }.joined(separator: "."))
  }

  /// Makes a subject of an escaped name.
  package init(known name: String, number: UInt64? = nil) {
    self.name = name
    self.number = number ?? Fingerprint.hash(name.utf8)
  }

  /// The subject for cancelling calls that were sent to this one.
  package var cancels: RemoteSubject { RemoteSubject(known: name + ".cancel") }

  /// The error for a subject without listeners. It contains the names of host and interface if the
  /// subject has them.
  var unheard: RemoteError {
    let names = name.hasPrefix("forwarding.") ? name.dropFirst("forwarding.".count) : name[...]
    return .unreachable("no host listens to \(names)")
  }

  public init(stringLiteral text: String) { self.init(text) }

  /// Replaces each byte but ASCII letters, digits, `-` and `_` by `%` and two hexadecimal digits.
  private static func escaped(_ part: String) -> String {
    if part.isEmpty { return "%" }
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in part.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
