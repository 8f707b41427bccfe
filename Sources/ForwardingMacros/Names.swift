// SPDX-License-Identifier: Apache-2.0
import SwiftParser

/// The names that the members of a proxy have so far. No two requirements share one.
struct Names {
  private var used: Set<String> = []

  mutating func formUnion(_ others: Names) { used.formUnion(others.used) }

  mutating func selector(_ selector: String) -> String {
    unused("selector", selector) { selector, number in
      let end = selector.firstIndex(of: ":") ?? selector.endIndex
      return selector[..<end] + "_\(number)" + selector[end...]
    }
  }

  mutating func constant(_ words: [String]) -> String {
    unused("constant", "__message_" + words.filter { !$0.isEmpty }.joined(separator: "_"))
  }

  /// The public name of a message: all words in camel case.
  mutating func message(_ words: [String]) -> String {
    let name = unused("message", words.inCamelCase)
    return name.isValidSwiftIdentifier(for: .variableName) ? name : "`\(name)`"
  }

  /// What the compiler names where the values of a requirement are not `Sendable`: the requirement,
  /// with its types. nil if they are, by their names.
  mutating func values(_ requirement: String, _ types: String) -> String? {
    if Self.areSendable(types) { return nil }
    let text = requirement.filter { $0 != "`" && $0 != "\\" }.split(whereSeparator: \.isWhitespace)
    return "`\(unused("values", "values of \(text.joined(separator: " "))") { "\($0) (\($1))" })`"
  }

  static func areSendable(_ types: String) -> Bool {
    let words = types.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
    return !types.contains("->") && words.allSatisfy { sendable.contains(String($0)) }
  }

  /// Words of types that are `Sendable` in any case.
  private static let sendable: Set = [
    "Swift", "Void", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32",
    "UInt64", "Float", "Double", "Bool", "String", "Substring", "Character", "Duration", "Array",
    "Dictionary", "Set", "Optional", "Result", "any", "Error", "Sendable",
  ]

  private mutating func unused(
    _ kind: String, _ name: String, numbered: (String, Int) -> String = { "\($0)_\($1)" }
  ) -> String {
    var (unused, number) = (name, 1)
    while !used.insert("\(kind) \(unused)").inserted {
      number += 1
      unused = numbered(name, number)
    }
    return unused
  }
}

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
    return name + joint(name, first) + Array(labels.dropFirst()).labels
  }

  /// The first label, as part of the selector: `load(file:)` is `loadWithFile:`, and `move(to:)` is
  /// `moveTo:`.
  private static func joint(_ name: String, _ label: String) -> String {
    if label.isEmpty { return ":" }
    let needsWord =
      !prepositions.contains(words(label).first ?? "")
      && !prepositions.contains(words(name).last ?? "")
    return (needsWord ? "With" : "") + label.capital + ":"
  }

  /// The words of a camel-case name, in lowercase.
  private static func words(_ name: String) -> [String] {
    name.matches(of: /.[^\p{Lu}]*/).map { $0.output.lowercased() }
  }
}
