// SPDX-License-Identifier: Apache-2.0
extension String {
  /// The text with its control characters escaped, so that no terminal interprets received parts.
  package var visible: String { escaped([]) }

  /// The text as a JSON string, with control characters escaped.
  package var quoted: String { "\"" + escaped(["\"", "\\"]) + "\"" }

  private func escaped(_ others: Set<Unicode.Scalar>) -> String {
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case _ where others.contains(scalar): text += "\\\(scalar)"
      case "\0"..<" ", "\u{7F}"..."\u{9F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
