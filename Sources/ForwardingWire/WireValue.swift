/// An argument or result from outside, as its encoding tells it: for who reads calls whose messages this process does
/// not have.
///
/// ```swift
/// WireValue.list([.integer(1), .text("two"), .none])  // [1,"two",null]
/// ```
///
/// It prints as JSON.
public enum WireValue: Hashable, Sendable {
  /// No text, or no result.
  case none
  /// An integer of any width.
  case integer(Int128)
  /// An integer that is too large for the others.
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

  /// A text as JSON has it.
  public static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case "\r": quoted += "\\r"
      // Controls, and what a terminal takes for some.
      case "\0"..<" ", "\u{7F}"..."\u{9F}": quoted += escaped(scalar.value)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// JSON without what a terminal obeys: controls are between its tokens alone, and others inside of texts.
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

  /// Words that may hold some from outside, which no terminal obeys: controls are escaped.
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
