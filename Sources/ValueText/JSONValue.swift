/// A JSON value. Numbers are kept as they are written: 128-bit integers must not lose digits.
package indirect enum JSONValue {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  package static func integer(_ value: some BinaryInteger) -> JSONValue { .number("\(value)") }
}

extension JSONValue: CustomStringConvertible {
  /// The value on one line.
  package var description: String {
    switch self {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .number(let text): return text
    case .string(let text): return Self.quoted(text)
    case .array(let values): return "[" + values.map(\.description).joined(separator: ",") + "]"
    case .object(let members):
      return "{" + members.map { Self.quoted($0) + ":" + $1.description }.joined(separator: ",")
        + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\t": out += "\\t"
      case "\r": out += "\\r"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }
}

/// Reads JSON text that takes up a whole string; nil where it is malformed.
package struct JSONReader {
  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0

  package static func value(of text: String) -> JSONValue? {
    var reader = JSONReader(bytes: Array(text.utf8))
    guard let value = reader.value() else { return nil }
    reader.skipBlanks()
    return reader.offset == reader.bytes.count ? value : nil
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func skipBlanks() {
    while offset < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
  }

  private mutating func take(_ byte: Character) -> Bool {
    skipBlanks()
    guard offset < bytes.count, bytes[offset] == byte.asciiValue else { return false }
    offset += 1
    return true
  }

  private mutating func value() -> JSONValue? {
    skipBlanks()
    guard offset < bytes.count, depth < 64 else { return nil }
    switch bytes[offset] {
    case UInt8(ascii: "["): return array()
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return word("true", .bool(true))
    case UInt8(ascii: "f"): return word("false", .bool(false))
    case UInt8(ascii: "n"): return word("null", .null)
    default: return number()
    }
  }

  private mutating func word(_ text: String, _ value: JSONValue) -> JSONValue? {
    guard bytes[offset...].starts(with: text.utf8) else { return nil }
    offset += text.utf8.count
    return value
  }

  private mutating func array() -> JSONValue? {
    offset += 1
    depth += 1
    defer { depth -= 1 }
    var values: [JSONValue] = []
    if take("]") { return .array(values) }
    repeat {
      guard let next = value() else { return nil }
      values.append(next)
    } while take(",")
    return take("]") ? .array(values) : nil
  }

  /// A number up to the next separator; its reader decides whether it is one.
  private mutating func number() -> JSONValue? {
    let start = offset
    while offset < bytes.count, !",] \t\n\r".utf8.contains(bytes[offset]) { offset += 1 }
    guard offset > start else { return nil }
    return .number(String(decoding: bytes[start..<offset], as: UTF8.self))
  }

  private mutating func string() -> String? {
    offset += 1
    var out: [UInt8] = []
    while offset < bytes.count {
      let byte = bytes[offset]
      offset += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: out, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let escaped = escape() else { return nil }
        out += Array(String(escaped).utf8)
      default: out.append(byte)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    guard offset < bytes.count else { return nil }
    let byte = bytes[offset]
    offset += 1
    switch byte {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "u"):
      guard let unit = hexUnit() else { return nil }
      if (0xD800..<0xDC00).contains(unit) {
        guard bytes[offset...].starts(with: "\\u".utf8) else { return nil }
        offset += 2
        guard let low = hexUnit(), (0xDC00..<0xE000).contains(low) else { return nil }
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
      }
      return Unicode.Scalar(unit)
    default: return nil
    }
  }

  private mutating func hexUnit() -> UInt32? {
    guard offset + 4 <= bytes.count else { return nil }
    let digits = String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
    offset += 4
    return UInt32(digits, radix: 16)
  }
}
