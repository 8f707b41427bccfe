// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing

/// One declaration as `swift-api-digester` writes it.
private struct Declaration: Decodable {
  var kind: String
  var declKind: String?
  var printedName: String?
  var `static`: Bool?
  var throwing: Bool?
  var genericSig: String?
  var isInternal: Bool?
  var implicit: Bool?
  var accessors: [Declaration]?
  var declAttributes: [String]?
  var children: [Declaration]?
  var conformances: [Conformance]?
  var superclassNames: [String]?
  var isExternal: Bool?
  var overriding: Bool?

  struct Conformance: Decodable {
    var printedName: String
    var usr: String
  }

  private static let kinds = [
    "Class": "class", "Struct": "struct", "Enum": "enum", "Protocol": "protocol",
    "EnumElement": "case", "Func": "func", "Var": "var", "Constructor": "init",
    "Subscript": "subscript", "TypeAlias": "typealias", "AssociatedType": "associatedtype",
    "Macro": "macro",
  ]

  /// The lines of this declaration and of its children.
  func lines(_ path: String, _ sources: PublicSources) -> [String] {
    guard let declKind, let word = Self.kinds[declKind], isInternal != true, implicit != true,
      let printedName, !printedName.hasPrefix("__derived")
    else { return [] }
    let name = path.isEmpty ? printedName : "\(path).\(printedName)"
    let members = (children ?? []).flatMap { $0.lines(name, sources) }
    let isType = ["Class", "Struct", "Enum", "Protocol"].contains(declKind)
    return [line(word, name, isType)] + (isType ? inheritance(name, sources) : []) + members
  }

  /// The names of this declaration and of its members, without overrides, and without what is for
  /// generated code alone: it begins with an underscore. Members that are added to a type of another
  /// module are for those who import that module.
  func shown() -> [String] {
    guard let declKind, Self.kinds[declKind] != nil, isInternal != true, implicit != true,
      isExternal != true, overriding != true, let printedName,
      !printedName.hasPrefix("_")
    else { return [] }
    return [printedName] + (children ?? []).flatMap { $0.shown() }
  }

  /// The conformances that all types have unless they suppress them, and those that another one
  /// implies.
  private static let usual = ["Copyable", "Escapable"], implied = ["SendableMetatype"]

  /// A line for the superclass and for each conformance. For a type of another module, only the
  /// conformances that this package declares.
  private func inheritance(_ name: String, _ sources: PublicSources) -> [String] {
    let conformances = conformances ?? []
    let names = conformances.map(\.printedName)
    var lines = (superclassNames ?? []).prefix(1).map { "        \(name) inherits \($0)" }
    if declKind != "Protocol" {
      lines += Self.usual.filter { !names.contains($0) }.map { "        \(name) is no \($0)" }
    }
    for conformance in conformances {
      let other = conformance.printedName
      let ownName = name.split(separator: ".").last ?? ""
      let mark = sources.conformanceMarks["\(ownName): \(other)"]
      let isOurs = [
        "13TypeEncodings", "11Invocations", "10Forwarding", "14InvocationText", "14ForwardingUndo",
        "17ForwardingTesting", "14ForwardingWire", "17ForwardingJournal",
        "16ForwardingRemote",
      ].contains { conformance.usr.hasPrefix("s:\($0)") }
      if (Self.usual + Self.implied).contains(other) { continue }
      if sources.packageProtocols.contains(other) { continue }
      if isExternal == true, !isOurs, mark == nil { continue }
      lines.append("        \(name) is \(mark.map { "\($0) " } ?? "")\(other)")
    }
    return lines
  }

  private func line(_ word: String, _ name: String, _ isType: Bool) -> String {
    let attributes = declAttributes ?? []
    let types = (children ?? []).filter { $0.kind.hasPrefix("Type") && $0.declKind == nil }
      .compactMap(\.printedName)
    var text = attributes.contains("Unsafe") ? "@unsafe " : "        "
    if attributes.contains("Available") { text += "@available " }
    if self.static == true { text += "static " }
    text += "\(word) \(name)"
    if !isType, let result = types.first {
      let effect = throwing == true ? " throws" : ""
      let setter = (accessors?.count ?? 0) > 1 ? " { get set }" : ""
      text +=
        word == "func" || word == "init" || word == "subscript"
        ? ": (\(types.dropFirst().joined(separator: ", ")))\(effect) -> \(result)\(setter)"
        : ": \(result)\(setter)"
    }
    if let genericSig { text += " \(genericSig)" }
    return text.replacing("Swift.", with: "")
  }
}

private struct Digest: Decodable {
  var ABIRoot: Declaration
}

@Suite("The public API")
struct PublicAPITests {
  /// Each line of a golden was checked against the rule: code that compiles without the word
  /// `unsafe` corrupts no memory. A line that is added, removed, or loses its mark must be checked
  /// in the same way.
  @Test(
    "every added, removed or changed declaration and conformance changes a golden",
    .notEmulated("the public API is the same on each machine"),
    arguments: [
      "TypeEncodings", "Invocations", "Forwarding", "InvocationText", "ForwardingUndo",
      "ForwardingTesting",
      "ForwardingWire", "ForwardingJournal", "ForwardingRemote",
    ])
  func golden(module: String) throws {
    let sources = try PublicSources(module: module)
    let lines =
      (try declarations(of: module).flatMap { $0.lines("", sources) }
      + sources.unavailable.map { "        \($0)" })
      .sorted { $0.dropFirst(8) < $1.dropFirst(8) }
    try #require(lines.count > 20)
    try compare(lines, module)
  }

  /// Its own, and those of the names that it exports of other modules.
  @Test(
    "import Forwarding shows at most 250 declarations",
    .notEmulated("the public API is the same on each machine"))
  func shown() throws {
    let exports = try String(
      contentsOf: Toolchain.package.appendingPathComponent("Sources/Forwarding/Forwarding.swift"),
      encoding: .utf8
    ).matches(of: /@_exported public import (?:\w+ (\w+)\.(\w+))?/)
    let others = try exports.flatMap { export in
      let (module, name) = (try #require(export.1), try #require(export.2))
      return try declarations(of: String(module)).filter { $0.printedName ?? "" == name }
    }
    try #require(others.count == exports.count)
    let shown = try (declarations(of: "Forwarding") + others).flatMap { $0.shown() }
    try #require(shown.contains("Multicast") && shown.contains("NoResult"))
    #expect(shown.count <= 250)
  }

  private func declarations(of module: String) throws -> [Declaration] {
    let tool = try #require(Toolchain.path(of: "swift-api-digester"))
    let output = FileManager.default.temporaryDirectory
      .appendingPathComponent("forwarding-api-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: output) }
    let finished = try run(
      tool,
      ["-dump-sdk", "-module", module, "-target", try target(), "-o", output.path]
        + Toolchain.moduleOptions)
    #expect(finished.status == 0, "\(finished.errors)")
    let digest = try JSONDecoder().decode(Digest.self, from: Data(contentsOf: output))
    return digest.ABIRoot.children ?? []
  }

  private func compare(_ lines: [String], _ module: String) throws {
    let golden = Toolchain.package.appendingPathComponent("Tests/Data/PublicAPI/\(module).txt")
    if Toolchain.records {
      try (lines.joined(separator: "\n") + "\n").write(
        to: golden, atomically: true, encoding: .utf8)
    }
    let known = try String(contentsOf: golden, encoding: .utf8).split(separator: "\n").map(
      String.init)
    #if Macros
      let expected = known
    #else
      let expected = known.filter { !$0.hasPrefix("        macro ") }
    #endif
    for line in lines.difference(from: expected) {
      switch line {
      case .insert(_, let text, _): Issue.record("new in \(module): \(text)")
      case .remove(_, let text, _): Issue.record("gone from \(module): \(text)")
      }
    }
  }

  private func target() throws -> String {
    let swiftc = try #require(Toolchain.path(of: "swiftc"))
    let info = try run(swiftc, ["-print-target-info"]).output
    let line = try #require(info.split(separator: "\n").first { $0.contains("\"triple\"") })
    return try #require(line.split(separator: "\"").dropFirst(3).first.map(String.init))
  }
}
