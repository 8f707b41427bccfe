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
  public static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case "\r": quoted += "\\r"
      // Control characters, including those that terminals interpret beyond ASCII.
      case "\0"..<" ", "\u{7F}"..."\u{9F}": quoted += escaped(scalar.value)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// JSON without characters that a terminal interprets. Control characters of ASCII are only
  /// between tokens, and become spaces; others are in strings, and are escaped.
  private static func inOneLine(_ json: String) -> String {
    var line = ""
    for scalar in json.unicodeScalars {
      switch scalar {
      case "\0"..<" ": line += " "
      case "\u{7F}"..."\u{9F}": line += escaped(scalar.value)
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line
  }

  /// Text that may contain received parts, with its control characters escaped so that no terminal
  /// interprets them.
  package static func visible(_ words: String) -> String {
    var visible = ""
    for scalar in words.unicodeScalars {
      switch scalar {
      case "\0"..<" ", "\u{7F}"..."\u{9F}": visible += escaped(scalar.value)
      default: visible.unicodeScalars.append(scalar)
      }
    }
    return visible
  }

  private static func escaped(_ value: UInt32) -> String {
    let digits = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
