// SPDX-License-Identifier: Apache-2.0
/// Derives the selector that Objective-C imports a Swift method under.
enum SelectorName {
  private static let prepositions: Set<String> = [
    "above", "after", "along", "alongside", "as", "at", "before", "below", "by", "following", "for",
    "from", "given", "in", "including", "inside", "into", "matching", "of", "on", "passing",
    "preceding", "since", "to", "until", "using", "via", "when", "with", "within",
  ]

  /// The selector of a method with these labels. An empty label stands for `_`.
  static func of(_ name: String, _ labels: [String]) -> String {
    guard let first = labels.first else { return name }
    return name + joint(name, first) + labels.dropFirst().map { "\($0):" }.joined()
  }

  /// The selector of a property's setter.
  static func setter(_ property: String) -> String { "set\(capitalized(property)):" }

  /// The first label, as part of the selector: `load(file:)` is `loadWithFile:`, and `move(to:)` is
  /// `moveTo:`.
  private static func joint(_ name: String, _ label: String) -> String {
    if label.isEmpty { return ":" }
    let needsWord =
      !prepositions.contains(words(label).first ?? "")
      && !prepositions.contains(words(name).last ?? "")
    return (needsWord ? "With" : "") + capitalized(label) + ":"
  }

  private static func capitalized(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }

  /// The words of a camel-case name, in lowercase.
  private static func words(_ name: String) -> [String] {
    var words: [String] = []
    for letter in name {
      if letter.isUppercase || words.isEmpty { words.append("") }
      words[words.count - 1] += letter.lowercased()
    }
    return words
  }
}
