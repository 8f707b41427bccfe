// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// The module-qualified names in the source of a proxy, such as `Module::name`. A program may
/// declare types of the same names, or a type with the name of a module.
enum Spelling {
  static let forwarding = "Forwarding::"
  static let invocations = "Invocations::"
  static let swift = "Swift::"
  static let void = "Swift::Void"
  static let anyError = "any Swift::Error"
}

extension TokenSyntax {
  /// The name without backticks.
  var bare: String { text.replacing("`", with: "") }

  /// The name as one word: `press button` is `pressButton`.
  var word: String { bare.inOneWord }
}

extension String {
  /// The text as a name: `press button` is `pressButton`.
  var inOneWord: String {
    let words = split { !$0.isInName }.map(String.init)
    return words.isEmpty ? "_" : words.inCamelCase
  }

  /// The text with a capital in front.
  var capital: String { prefix(1).uppercased() + dropFirst() }

  /// The name of the proxy of a protocol: `ListenerProxy<Int>` of `Listener<Int>`.
  var proxyName: String {
    let name = prefix { $0 != "<" }
    return "\(name)Proxy\(dropFirst(name.count))"
  }

  /// A type without `Self.` in front of the associated types and type aliases of the protocol: outside of
  /// the members of a class, it is no type.
  var withoutSelf: String { contains("Self") ? replacing(/\bSelf\s*\.\s*/, with: "") : self }
}

extension [String] {
  /// The labels behind a name: `_:upload:`.
  var labels: String { map { "\($0):" }.joined() }

  /// The words as one name, such as `chatDidReceive`.
  var inCamelCase: String { (first ?? "") + dropFirst().map(\.capital).joined() }
}

extension Character {
  /// Whether a name without backticks may have it.
  var isInName: Bool { isLetter || isNumber || self == "_" || !isASCII }
}
