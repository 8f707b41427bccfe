// SPDX-License-Identifier: Apache-2.0
/// Reads a string as one JSON value. A number is any text up to the next separator: its type
/// decides whether it is valid.
package struct JSONReader {
  private static let depthLimit = 64

  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0

  package static func value(of text: String) throws(InvocationTextError) -> JSONValue {
    var reader = JSONReader(bytes: Array(text.utf8))
    let value = try reader.value()
    reader.skipBlanks()
    if reader.offset < reader.bytes.count { throw reader.fault(.trailingText) }
    return value
  }

  /// Reads a string as the JSON array of a call's arguments.
  static func arguments(of text: String, count: Int) throws(InvocationTextError) -> [JSONValue] {
    var reader = JSONReader(bytes: Array(text.utf8))
    reader.skipBlanks()
    guard reader.offset < reader.bytes.count, reader.bytes[reader.offset] == UInt8(ascii: "["),
      case .array(let values) = try value(of: text).kind
    else { throw reader.fault(.noList) }
    if values.count != count {
      // The first value too many, or the closing bracket.
      let end = reader.bytes.lastIndex(of: UInt8(ascii: "]")) ?? 0
      throw InvocationTextError(
        .argumentCount(expected: count, given: values.count),
        at: values.count > count ? values[count].offset : end)
    }
    return values
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private func fault(_ reason: InvocationTextError.Reason) -> InvocationTextError {
    InvocationTextError(reason, at: offset)
  }

  private mutating func skipBlanks() {
    while offset < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
  }

  private mutating func take(_ byte: Character) -> Bool {
    skipBlanks()
    guard offset < bytes.count, bytes[offset] == byte.asciiValue else { return false }
    offset += 1
    return true
  }

  private mutating func value() throws(InvocationTextError) -> JSONValue {
    skipBlanks()
    guard offset < bytes.count else { throw fault(.valueExpected) }
    guard depth < Self.depthLimit else { throw fault(.nestedTooDeeply(limit: Self.depthLimit)) }
    let start = offset
    switch bytes[offset] {
    case UInt8(ascii: "["): return JSONValue(.array(try array()), at: start)
    case UInt8(ascii: "\""): return JSONValue(.string(try string()), at: start)
    default: break
    }
    switch try word() {
    case "true": return JSONValue(.bool(true), at: start)
    case "false": return JSONValue(.bool(false), at: start)
    case "null": return JSONValue(.null, at: start)
    case let digits: return JSONValue(.number(digits), at: start)
    }
  }

  private mutating func array() throws(InvocationTextError) -> [JSONValue] {
    offset += 1
    depth += 1
    defer { depth -= 1 }
    var values: [JSONValue] = []
    if take("]") { return values }
    repeat { values.append(try value()) } while take(",")
    guard take("]") else { throw fault(.separatorExpected) }
    return values
  }

  /// Returns the text up to the next separator.
  private mutating func word() throws(InvocationTextError) -> String {
    let start = offset
    while offset < bytes.count, !",] \t\n\r".utf8.contains(bytes[offset]) { offset += 1 }
    guard offset > start else { throw fault(.valueExpected) }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func string() throws(InvocationTextError) -> String {
    let start = offset
    offset += 1
    var out: [UInt8] = []
    while offset < bytes.count {
      let byte = bytes[offset]
      offset += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: out, as: UTF8.self)
      case UInt8(ascii: "\\"): out += Array(String(try escaped()).utf8)
      default: out.append(byte)
      }
    }
    throw InvocationTextError(.unterminatedText, at: start)
  }

  private static let escapes: [UInt8: Unicode.Scalar] = [
    UInt8(ascii: "n"): "\n", UInt8(ascii: "t"): "\t", UInt8(ascii: "r"): "\r",
    UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "\""): "\"",
    UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/",
  ]

  /// Returns the character of an escape; `offset` is behind its backslash.
  private mutating func escaped() throws(InvocationTextError) -> Unicode.Scalar {
    let start = offset - 1
    let byte = offset < bytes.count ? bytes[offset] : 0
    offset += 1
    if let plain = Self.escapes[byte] { return plain }
    guard byte == UInt8(ascii: "u"), let unit = hexUnit() else {
      throw InvocationTextError(.unknownEscape, at: start)
    }
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xDC00, bytes[offset...].starts(with: "\\u".utf8) else {
      throw InvocationTextError(.unpairedSurrogate, at: start)
    }
    offset += 2
    guard let low = hexUnit(), (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    else { throw InvocationTextError(.unpairedSurrogate, at: start) }
    return scalar
  }

  private mutating func hexUnit() -> UInt32? {
    guard offset + 4 <= bytes.count else { return nil }
    let digits = String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
    offset += 4
    return digits.allSatisfy(\.isHexDigit) ? UInt32(digits, radix: 16) : nil
  }
}
