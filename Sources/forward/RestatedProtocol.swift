// SPDX-License-Identifier: Apache-2.0
/// A protocol of another module, restated in the form that `@Forwardable(as:)` takes.
struct RestatedProtocol {
  private let module: String
  private let symbol: SymbolGraph.Symbol
  private let name: String
  /// The inherited protocols that a proxy conforms to without members.
  private var marks: Set<String> = []
  private var members: [String] = []
  /// The modules of the types that the requirements name.
  private var modules: Set<String>

  /// A proxy conforms to these by its identity, or because they have no requirements. The macro's
  /// `ProtocolReader` has the same list.
  private static let known: Set = [
    "AnyObject", "Actor", "NSObjectProtocol", "Sendable", "Error", "LocalizedError", "Equatable",
    "Hashable", "Identifiable", "CustomStringConvertible", "CustomDebugStringConvertible",
  ]
  /// Protocols that are left out, because every type has them or another protocol implies them.
  private static let silent: Set = ["SendableMetatype", "Copyable", "Escapable"]

  init(_ path: String, of module: String, named name: String?, in graphs: SymbolGraphs) throws {
    let graph = try graphs.graph(of: module)
    guard let symbol = graph.protocolSymbol(path) else {
      let protocols = graph.symbols.filter { $0.kind.identifier == "swift.protocol" }.map(\.path)
      let all = protocols.isEmpty ? "none" : protocols.sorted().joined(separator: ", ")
      let hint = Tool.suggestion(for: path, among: protocols) ?? "; it has: \(all)"
      throw Failure(
        message: """
          '\(module)' has no public protocol '\(path)'\(hint)
          A module beside it may have it: 'FoundationEssentials' and 'FoundationXML' are beside 'Foundation'.
          """)
    }
    self.module = module
    self.symbol = symbol
    self.name = name ?? "\(symbol.pathComponents.last ?? path)List"
    modules = [module, "Forwarding"]
    try add(symbol, of: graph)
    for base in graph.relationships where base.kind == "conformsTo" && base.source == symbol.id {
      try add(base, of: graph, in: graphs)
    }
    if marks.contains("Actor") { marks.subtract(["AnyObject", "Sendable"]) }
    if marks.contains("Error") { marks.remove("Sendable") }
    if marks.contains("Hashable") { marks.remove("Equatable") }
  }

  // MARK: Members

  private mutating func add(
    _ base: SymbolGraph.Relationship, of graph: SymbolGraph, in graphs: SymbolGraphs
  ) throws {
    if let own = graph.symbols.first(where: { $0.id == base.target }) {
      return try add(own, of: graph)
    }
    let words = (base.targetFallback ?? "").split(separator: ".", maxSplits: 1).map(String.init)
    guard words.count == 2 else { return }
    if Self.silent.contains(words[1]) { return }
    if Self.known.contains(words[1]) {
      marks.insert(words[1])
      if words[1] == "NSObjectProtocol" || words[1] == "LocalizedError" {
        modules.insert("Foundation")
      }
      return
    }
    if ["Swift", "_Concurrency", "Distributed", "Observation"].contains(words[0]) {
      throw Failure(
        message: "'\(symbol.path)' inherits '\(words[1])', and no proxy can conform to that")
    }
    let other = try graphs.graph(of: words[0])
    guard let symbol = other.protocolSymbol(words[1]) else {
      throw Failure(message: "'\(words[0])' has no public protocol '\(words[1])'")
    }
    try add(symbol, of: other)
  }

  private mutating func add(_ symbol: SymbolGraph.Symbol, of graph: SymbolGraph) throws {
    if Self.inherited(symbol).contains("AnyObject") { marks.insert("AnyObject") }
    let requirements = graph.symbols("requirementOf", of: symbol.id)
    var lines: [String] = []
    for requirement in requirements {
      let isLeftOut = !graph.symbols("defaultImplementationOf", of: requirement.id).isEmpty
      if ["swift.init", "swift.func.op"].contains(requirement.kind.identifier) {
        if isLeftOut { continue }
        throw Failure(
          message: "no proxy can have '\(requirement.text)', which '\(symbol.path)' requires")
      }
      modules.formUnion(Self.modules(in: requirement))
      if isLeftOut, requirement.text.contains("@escaping") {
        let name = requirement.pathComponents.last ?? requirement.text
        lines.append("// Each target calls the closure of '\(name)'. Remove it if one alone may:")
      }
      lines.append(restated(requirement, from: symbol))
    }
    let words = Set(lines.flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "_" } })
    let aliases = graph.symbols("memberOf", of: symbol.id).filter { alias in
      alias.kind.identifier == "swift.typealias"
        && words.contains((alias.pathComponents.last ?? "")[...])
    }.map(\.text)
    let new = (aliases + lines).filter { !members.contains($0) }
    if !new.isEmpty, symbol.id != self.symbol.id { members.append("// From '\(symbol.path)':") }
    members += new
  }

  // MARK: Text

  /// The actor of a protocol, as it is written before the protocol and its requirements.
  private static func attributes(_ symbol: SymbolGraph.Symbol) -> String {
    let text = symbol.text
    return String(text[..<(text.firstRange(of: "protocol ")?.lowerBound ?? text.startIndex)])
  }

  /// A requirement as source, with a placeholder for the answer that is used without targets.
  private func restated(
    _ requirement: SymbolGraph.Symbol, from owner: SymbolGraph.Symbol
  ) -> String {
    var text = requirement.text.replacing(/\bSelf\./, with: "")
    let actor = Self.attributes(owner)
    if !actor.isEmpty {
      text = text.replacing(actor, with: "", maxReplacements: 1)
    } else if !Self.attributes(symbol).isEmpty, !text.contains("nonisolated ") {
      // The base may have no actor although the protocol has one.
      text = "nonisolated \(text)"
    }
    guard let type = Self.answer(requirement, text) else { return text }
    return "@Otherwise(<#\(type)#>) \(text)"
  }

  /// The type of the answer that a requirement needs without targets; nil if that answer is known.
  private static func answer(_ requirement: SymbolGraph.Symbol, _ text: String) -> String? {
    let type: String
    let throwsAny: Bool
    if let returned = requirement.returnedType?.replacing(/\bSelf\./, with: "") {
      let ends = text.ranges(of: " -> \(returned)")
      guard let end = ends.last else { return nil }
      type = returned
      // A function throws before its arrow, a subscript in its accessors.
      throwsAny =
        text[..<end.lowerBound].hasSuffix(" throws")
        || text[end.upperBound...].contains(/\bget\b.*\bthrows\b(?!\()/)
    } else {
      guard let colon = text.firstIndex(of: ":"), let accessors = text.lastIndex(of: "{") else {
        return nil
      }
      type = text[text.index(after: colon)..<accessors].split(separator: " ").joined(separator: " ")
      throwsAny = text[accessors...].contains(/\bthrows\b(?!\()/)
    }
    // An optional result defaults to nil, and a throwing requirement throws.
    let isOptional =
      ["?", "!"].contains(type.last) && (!type.contains("->") || type.hasSuffix(")?"))
    let isKnown = throwsAny || isOptional || type.hasPrefix("Optional<")
    return isKnown || ["Void", "()"].contains(type) ? nil : type
  }

  /// The protocols in the inheritance clause of a protocol.
  private static func inherited(_ symbol: SymbolGraph.Symbol) -> [String] {
    let clause = symbol.text.split(separator: ": ", maxSplits: 1).dropFirst().first ?? ""
    return (clause.split(separator: " where ").first ?? "").split(separator: ", ").map(String.init)
  }

  /// The modules of the types that a declaration names, taken from their mangled names.
  private static func modules(in symbol: SymbolGraph.Symbol) -> [String] {
    (symbol.declarationFragments ?? []).compactMap { fragment in
      guard let match = fragment.preciseIdentifier?.prefixMatch(of: /s:([1-9][0-9]*)/),
        let id = fragment.preciseIdentifier, let length = Int(match.1)
      else { return nil }
      let name = String(id[match.range.upperBound...].prefix(length))
      if ["FoundationEssentials", "FoundationInternationalization"].contains(name) {
        return "Foundation"
      }
      return name.hasPrefix("_") ? nil : name
    }
  }

  /// The source, ready to be pasted.
  func source(hasOwnName: Bool) -> String {
    let other = hasOwnName ? "\(module)::\(symbol.path)" : "\(module).\(symbol.path)"
    let head = symbol.text
    let parameters = head.firstMatch(of: /protocol [^ <:]+(<[^>]*>)/).map { String($0.1) } ?? ""
    let clause =
      head.firstRange(of: " where ").map {
        " " + head[$0.lowerBound...].dropFirst().replacing(/\bSelf\./, with: "")
      } ?? ""
    let inherited = marks.isEmpty ? "" : ": \(marks.sorted().joined(separator: ", "))"
    return """
      \(modules.sorted().map { "import \($0)" }.joined(separator: "\n"))

      @Forwardable(as: (any \(other)).self)
      \(Self.attributes(symbol))protocol \(name)\(parameters)\(inherited)\(clause) {
      \(members.map { "  \($0)" }.joined(separator: "\n"))
      }
      """
  }
}
