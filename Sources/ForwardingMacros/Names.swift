// SPDX-License-Identifier: Apache-2.0
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
    unused("constant", "__message_" + words.filter { !$0.isEmpty }.joined(separator: "_")) {
      "\($0)_\($1)"
    }
  }

  /// The public name of a message: all words in camel case. A name of one word retains its
  /// backticks.
  mutating func message(_ words: [String], spelled: String) -> String {
    let words = words.filter { !$0.isEmpty }
    let tail = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    let name = tail.isEmpty ? spelled : words[0] + tail.joined()
    return unused("message", name) { "\($0.filter { $0 != "`" })_\($1)" }
  }

  /// What the compiler names where the values of a requirement are not `Sendable`: the requirement,
  /// with its types. nil if they are, by their names.
  mutating func values(_ requirement: String, _ types: String) -> String? {
    if Self.areSendable(types) { return nil }
    let text = requirement.filter { $0 != "`" && $0 != "\\" }.split(
      whereSeparator: \.isWhitespace)
    return "`\(unused("values", "values of \(text.joined(separator: " "))") { "\($0) (\($1))" })`"
  }

  static func areSendable(_ types: String) -> Bool {
    let words = types.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
    return !types.contains("->") && words.allSatisfy { sendable.contains(String($0)) }
  }

  /// Words of types that are `Sendable` in any case.
  private static let sendable: Set = [
    "Swift", "Void", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16",
    "UInt32",
    "UInt64", "Float", "Double", "Bool", "String", "Substring", "Character", "Duration", "Array",
    "Dictionary", "Set", "Optional", "Result", "any", "Error", "Sendable",
  ]

  private mutating func unused(
    _ kind: String, _ name: String, _ numbered: (String, Int) -> String
  ) -> String {
    var (unused, number) = (name, 1)
    while !used.insert("\(kind) \(unused)").inserted {
      number += 1
      unused = numbered(name, number)
    }
    return unused
  }
}
