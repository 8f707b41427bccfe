// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

extension TokenSyntax {
  /// The name without backticks.
  var bare: String { text.replacing("`", with: "") }

  /// The name as one word: `press button` is `pressButton`.
  var word: String { bare.inOneWord }

  /// The same, with the backticks of a keyword.
  var spelled: String {
    word == bare ? text : word.first?.isNumber == true ? "_\(word)" : word
  }
}

extension String {
  /// The text as a name: `press button` is `pressButton`.
  var inOneWord: String {
    let words = split { !$0.isInName }
    let tail = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return (words.first.map(String.init) ?? "_") + tail.joined()
  }

  /// A type without `Self.` in front of the associated types and type aliases of the protocol: outside of
  /// the members of a class, it is no type.
  var withoutSelf: String {
    contains("Self") ? replacing(/\bSelf\s*\.\s*/, with: "") : self
  }
}

extension [String] {
  /// The labels behind a name: `_:upload:`.
  var labels: String { map { "\($0):" }.joined() }
}

extension Character {
  /// Whether a name without backticks may have it.
  var isInName: Bool { isLetter || isNumber || self == "_" || !isASCII }
}
