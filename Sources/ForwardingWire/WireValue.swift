// SPDX-License-Identifier: Apache-2.0
/// A decoded argument or result of a message that this process does not have (see ``WireTypes``).
///
/// ```swift
/// WireValue.list([.integer(1), .text("two"), .none])  // [1,"two",null]
/// ```
///
/// Its description is JSON.
public enum WireValue: Hashable, Sendable {
  /// Nil text, or no result.
  case none
  /// An integer of any width.
  case integer(Int128)
  /// An integer that is too large for `Int128`.
  case unsigned(UInt128)
  /// A floating-point number.
  case number(Double)
  /// True or false.
  case bool(Bool)
  /// Text.
  case text(String)
  /// A `[UInt8]`.
  case bytes([UInt8])
  /// The members of a structure, or the elements of an array.
  case list([WireValue])
  /// A value of a Swift type, as JSON.
  case json(String)
}

extension WireValue: CustomStringConvertible {
  public var description: String {
    switch self {
    case .none: "null"
    case .integer(let number): "\(number)"
    case .unsigned(let number): "\(number)"
    case .number(let number): number.isFinite ? "\(number)" : "\"\(number)\""
    case .bool(let flag): flag ? "true" : "false"
    case .text(let text): Self.quoted(text)
    case .bytes(let bytes): "\"" + Self.hexadecimal(bytes) + "\""
    case .list(let values): "[" + values.map(\.description).joined(separator: ",") + "]"
    case .json(let text): Self.inOneLine(text)
    }
  }

  /// A text as a JSON string, with control characters escaped.
  public static func quoted(_ text: String) -> String { "\"" + escaped(text, in: .quotes) + "\"" }

  /// JSON without characters that a terminal interprets. Control characters of ASCII are only
  /// between tokens, and become spaces; others are in strings, and are escaped.
  private static func inOneLine(_ json: String) -> String { escaped(json, in: .json) }

  /// Text that may contain received parts, with its control characters escaped so that no terminal
  /// interprets them.
  package static func visible(_ words: String) -> String { escaped(words, in: .line) }

  private enum Place { case quotes, json, line }

  private static func escaped(_ text: String, in place: Place) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"" where place == .quotes, "\\" where place == .quotes: escaped += "\\\(scalar)"
      case "\0"..<" " where place == .json: escaped += " "
      case "\0"..<" ", "\u{7F}"..."\u{9F}":
        let digits = String(scalar.value, radix: 16)
        escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
