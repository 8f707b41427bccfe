/// The selector that Objective-C has for a Swift method.
enum SelectorName {
  private static let prepositions: Set<String> = [
    "above", "after", "along", "alongside", "as", "at", "before", "below", "by", "following", "for",
    "from", "given", "in", "including", "inside", "into", "matching", "of", "on", "passing",
    "preceding", "since", "to", "until", "using", "via", "when", "with", "within",
  ]

  /// The name of a method with these labels; an empty one stands for `_`.
  static func of(_ name: String, _ labels: [String]) -> String {
    guard let first = labels.first else { return name }
    return name + joint(name, first) + labels.dropFirst().map { "\($0):" }.joined()
  }

  /// The name of a property's setter.
  static func setter(_ property: String) -> String { "set\(capitalized(property)):" }

  /// `load(file:)` is `loadWithFile:`, and `move(to:)` is `moveTo:`.
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

  /// The words of a name in camel case, in small letters.
  private static func words(_ name: String) -> [String] {
    var words: [String] = []
    for letter in name {
      if letter.isUppercase || words.isEmpty { words.append("") }
      words[words.count - 1] += letter.lowercased()
    }
    return words
  }
}
