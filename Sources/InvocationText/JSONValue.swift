// SPDX-License-Identifier: Apache-2.0
/// A JSON value. Numbers are stored as text, so that 128-bit integers lose no digits.
package struct JSONValue {
  package enum Kind {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([(String, JSONValue)])
  }

  package let kind: Kind
  /// The offset in the text that it was read from, in UTF-8 code units.
  package let offset: Int

  init(_ kind: Kind, at offset: Int = 0) {
    self.kind = kind
    self.offset = offset
  }

  package static var null: JSONValue { JSONValue(.null) }
  package static func bool(_ value: Bool) -> JSONValue { JSONValue(.bool(value)) }
  package static func number(_ digits: String) -> JSONValue { JSONValue(.number(digits)) }
  package static func string(_ text: String) -> JSONValue { JSONValue(.string(text)) }
  package static func array(_ values: [JSONValue]) -> JSONValue { JSONValue(.array(values)) }
  package static func object(_ members: [(String, JSONValue)]) -> JSONValue {
    JSONValue(.object(members))
  }
  package static func integer(_ value: some BinaryInteger) -> JSONValue { .number("\(value)") }
}

extension JSONValue: CustomStringConvertible {
  /// The value on one line.
  package var description: String {
    switch kind {
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
