// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The symbols of one library as the compiler describes them, without those of the modules that it
/// re-exports.
package struct SymbolGraph {
  typealias Object = [String: Any]

  let library: String
  private var graph: Object
  private var symbols: [Object]

  package init(_ data: Data, of library: String) throws {
    guard let graph = try JSONSerialization.jsonObject(with: data) as? Object,
      let all = graph["symbols"] as? [Object],
      let relations = graph["relationships"] as? [Object]
    else { throw Fault("the symbols of \(library) cannot be read") }
    self.graph = graph
    self.library = library
    var kept: Set<String> = []
    for symbol in all {
      let file = (symbol["location"] as? Object)?["uri"] as? String ?? ""
      if file.contains("/\(library)/") { kept.insert(Self.name(symbol)) }
    }
    // Members that the compiler made have no place; they belong to their types.
    for relation in relations where relation["kind"] as? String == "memberOf" {
      let source = relation["source"] as? String ?? ""
      if source.contains("::SYNTHESIZED::"), kept.contains(relation["target"] as? String ?? "") {
        kept.insert(source)
      }
    }
    symbols = all.filter { kept.contains(Self.name($0)) }
    self.graph["relationships"] = relations.filter { kept.contains($0["source"] as? String ?? "") }
    inherited = Set(
      relations.filter { $0["sourceOrigin"] != nil }.compactMap { $0["source"] as? String })
  }

  /// Symbols whose comment is that of a requirement.
  private let inherited: Set<String>

  private static func name(_ symbol: Object) -> String {
    (symbol["identifier"] as? Object)?["precise"] as? String ?? ""
  }

  static func path(_ symbol: Object) -> [String] { symbol["pathComponents"] as? [String] ?? [] }

  private static func comment(_ symbol: Object) -> [String] {
    let lines = (symbol["docComment"] as? Object)?["lines"] as? [Object] ?? []
    return lines.compactMap { $0["text"] as? String }
  }

  /// The names outside of all types.
  package var names: Set<String> {
    Set(symbols.map(Self.path).filter { $0.count == 1 }.map { $0[0] })
  }

  /// Sentences that a comment has on what only macros use. Such a symbol must be hidden.
  private static let companions = [
    "Used by code that `@Forwardable` generates",
    "Only the code that `@Forwardable` writes needs it",
  ]

  /// The sentences that are missing, and those that should be hidden.
  package var faults: [String] {
    symbols.flatMap { symbol -> [String] in
      let path = Self.path(symbol).joined(separator: ".")
      let comment = Self.comment(symbol)
      var faults: [String] = []
      if comment.allSatisfy(\.isEmpty), !inherited.contains(Self.name(symbol)),
        !Self.name(symbol).contains("::SYNTHESIZED::")
      {
        faults.append("\(library): \(path) has no summary")
      }
      if comment.contains(where: { line in Self.companions.contains { line.contains($0) } }) {
        faults.append("\(library): \(path) is for macros alone, and is not hidden")
      }
      return faults
    }
  }

  /// Makes links to symbols of other libraries absolute. `homes` has the libraries below this one,
  /// by the names that they declare.
  mutating func link(to homes: [String: String]) {
    let own = names
    for index in symbols.indices {
      guard var comment = symbols[index]["docComment"] as? Object,
        let lines = comment["lines"] as? [Object]
      else { continue }
      comment["lines"] = lines.map { line -> Object in
        var line = line
        line["text"] = Self.linked(line["text"] as? String ?? "", own, homes)
        return line
      }
      symbols[index]["docComment"] = comment
    }
  }

  private static func linked(
    _ text: String, _ own: Set<String>, _ homes: [String: String]
  ) -> String {
    text.replacing(/``([^`]+)``/) { match in
      let first = match.1.prefix { $0 != "/" }
      guard !own.contains(String(first)), let home = homes[String(first)] else {
        return String(match.0)
      }
      return "``/\(home)/\(match.1)``"
    }
  }

  func write(to file: URL) throws {
    var graph = graph
    graph["symbols"] = symbols
    try JSONSerialization.data(withJSONObject: graph).write(to: file)
  }
}
