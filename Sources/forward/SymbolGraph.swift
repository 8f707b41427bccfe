// SPDX-License-Identifier: Apache-2.0
import Foundation
import TypeEncodings

/// The symbols of a module, as `swift symbolgraph-extract` writes them. Only the parts that
/// describe protocols are decoded.
struct SymbolGraph: Decodable {
  struct Symbol: Decodable {
    struct Kind: Decodable { var identifier: String }
    struct Identifier: Decodable { var precise: String }
    struct Signature: Decodable { var returns: [Fragment]? }
    struct Fragment: Decodable {
      var kind: String
      var spelling: String
      var preciseIdentifier: String?
    }

    var kind: Kind
    var identifier: Identifier
    var pathComponents: [String]
    var declarationFragments: [Fragment]?
    var functionSignature: Signature?

    var id: String { identifier.precise }
    var path: String { pathComponents.joined(separator: ".") }
    /// The declaration, in one line.
    var text: String { Self.line(declarationFragments ?? []) }
    /// The type that a function or a subscript returns.
    var returnedType: String? { (functionSignature?.returns).map(Self.line) }

    private static func line(_ fragments: [Fragment]) -> String {
      fragments.map(\.spelling).joined()
        .split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing(" : ", with: ": ")
    }
  }

  struct Relationship: Decodable {
    var kind: String
    var source: String
    var target: String
    /// The name of the target with its module, if the target is in another module.
    var targetFallback: String?
  }

  var symbols: [Symbol]
  var relationships: [Relationship]

  /// Finds a protocol by its name without the module.
  func protocolSymbol(_ path: String) -> Symbol? {
    symbols.first { $0.kind.identifier == "swift.protocol" && $0.path == path }
  }

  /// The symbols that have a relationship to a symbol.
  func symbols(_ kind: String, of id: String) -> [Symbol] {
    let sources = Set(relationships.filter { $0.kind == kind && $0.target == id }.map(\.source))
    return symbols.filter { sources.contains($0.id) }
  }
}

/// The symbol graphs of modules, which the toolchain extracts on demand.
final class SymbolGraphs {
  private var graphs: [String: SymbolGraph] = [:]
  /// Further options of `swift symbolgraph-extract`.
  private let options: [String]

  init(options: [String]) { self.options = options }

  /// The graph of a module.
  func graph(of module: String) throws -> SymbolGraph {
    if let graph = graphs[module] { return graph }
    let graph = try extract(module)
    graphs[module] = graph
    return graph
  }

  private func extract(_ module: String) throws -> SymbolGraph {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("forward-proxy-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var arguments = ["symbolgraph-extract", "-module-name", module, "-output-dir", folder.path]
    if !options.contains("-target") { arguments += ["-target", Self.target] }
    // The modules that SwiftPM has built in this folder.
    let built = ".build/debug/Modules"
    if FileManager.default.fileExists(atPath: built) { arguments += ["-I", built] }
    let output = try Self.swift(arguments + options)
    let file = folder.appendingPathComponent("\(module).symbols.json")
    guard let data = try? Data(contentsOf: file) else {
      let first = output.split(separator: "\n").first.map(String.init) ?? "it gave no reason"
      let advice =
        first.contains("missing required module")
        ? "Add the map of that module: -Xcc -fmodule-map-file=PATH/module.modulemap"
        : "Add the folder that it is in, as in: forward proxy \(module).SomeDelegate -I .build/debug/Modules"
      throw Failure(
        code: .badData,
        message: """
          the module '\(module)' is not found by swift symbolgraph-extract: \(first)
          \(advice)
          """)
    }
    return try JSONDecoder().decode(SymbolGraph.self, from: data)
  }

  /// The triple of this machine.
  private static var target: String {
    Machine.own == .x86_64Linux ? "x86_64-unknown-linux-gnu" : "aarch64-unknown-linux-gnu"
  }

  /// Runs the compiler. Returns its output and its errors.
  private static func swift(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["swift"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
