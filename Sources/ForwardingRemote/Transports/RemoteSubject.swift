/// Where messages go: names with dots between them. It has no wildcards and no spaces, so nobody listens to more
/// than is said.
///
/// ```swift
/// RemoteSubject("echo").name                  // echo
/// RemoteSubject(parts: "chat", "a.b *").name  // chat.a%2Eb%20%2A
/// ```
public struct RemoteSubject: Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The text that the transport gets.
  public let name: String

  /// The most bytes that are carried.
  package static let limit = 1024

  /// Refuses what is longer than that.
  package func check() throws(TransportError) {
    let count = name.utf8.count
    if count > Self.limit { throw .tooLarge(limit: Self.limit, given: count) }
  }

  /// Makes a subject of names, in which any character may be.
  public init(parts: String...) {
    name = parts.map(Self.escaped).joined(separator: ".")
  }

  /// Makes a subject of text whose dots are between names.
  public init(_ text: String) {
    name =
      text.split(separator: ".", omittingEmptySubsequences: false)
      .map { Self.escaped(String($0)) }.joined(separator: ".")
  }

  /// Makes a subject of a name that is escaped already, as one from another process is.
  init(known name: String) { self.name = name }

  /// Where it is said that nobody waits any more for a call that was sent here.
  package var cancels: RemoteSubject { RemoteSubject(known: name + ".cancel") }

  /// That nobody listens there, with the names of host and interface if it has these.
  var unheard: RemoteError {
    let names = name.hasPrefix("forwarding.") ? name.dropFirst("forwarding.".count) : name[...]
    return .unreachable("nobody listens to \(names)")
  }

  public init(stringLiteral text: String) { self.init(text) }

  public var description: String { name }

  /// Everything but letters, digits, `-` and `_` of ASCII as `%` and two digits.
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
