// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The symbols of a module, as `swift symbolgraph-extract` writes them. Only the parts that
/// describe protocols are decoded.
struct SymbolGraph: Decodable {
  struct Module: Decodable { var name: String }

  struct Symbol: Decodable {
    struct Kind: Decodable { var identifier: String }
    struct Identifier: Decodable { var precise: String }
    struct Fragment: Decodable {
      var kind: String
      var spelling: String
      var preciseIdentifier: String?
    }

    var kind: Kind
    var identifier: Identifier
    var pathComponents: [String]
    var declarationFragments: [Fragment]?

    var id: String { identifier.precise }
    var path: String { pathComponents.joined(separator: ".") }
    /// The declaration, in one line.
    var text: String {
      (declarationFragments ?? []).map(\.spelling).joined()
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

  var module: Module
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

/// The available symbol graphs: read from files, or extracted by the toolchain on demand.
final class SymbolGraphs {
  /// The reason that a symbol graph is not available.
  struct Missing: Error, CustomStringConvertible {
    let description: String
  }

  private var graphs: [String: SymbolGraph] = [:]
  private let extracts: Bool
  /// Further options of `swift symbolgraph-extract`.
  private let options: [String]

  /// Reads files, or the files in folders. Without any, graphs are extracted on demand.
  init(files: [String], options: [String]) throws {
    extracts = files.isEmpty
    self.options = options
    for file in files {
      let url = URL(fileURLWithPath: file)
      let isFolder = (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory ?? false
      let inside =
        try isFolder
        ? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
          .filter { $0.lastPathComponent.hasSuffix(".symbols.json") }
        : [url]
      for file in inside { try read(file) }
    }
  }

  private func read(_ file: URL) throws {
    do {
      let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: file))
      // The graph of an extension of another module's types, 'A@B.symbols.json', declares no
      // protocols.
      if !file.lastPathComponent.contains("@") { graphs[graph.module.name] = graph }
    } catch {
      throw Missing(description: "'\(file.path)' is no symbol graph that can be read")
    }
  }

  /// The graph of a module.
  func graph(of module: String) throws -> SymbolGraph {
    if graphs[module] == nil, extracts { try extract(module) }
    guard let graph = graphs[module] else {
      throw Missing(
        description: "there is no symbol graph of '\(module)': give it with --symbols, too")
    }
    return graph
  }

  private func extract(_ module: String) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("forward-face-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var arguments = ["symbolgraph-extract", "-module-name", module, "-output-dir", folder.path]
    if !options.contains("-target") { arguments += ["-target", try Self.target()] }
    // The modules that SwiftPM has built in this folder.
    let built = ".build/debug/Modules"
    if FileManager.default.fileExists(atPath: built) { arguments += ["-I", built] }
    let said = try Self.swift(arguments + options)
    let file = folder.appendingPathComponent("\(module).symbols.json")
    guard FileManager.default.fileExists(atPath: file.path) else {
      let first = said.errors.split(separator: "\n").first.map(String.init) ?? "it said nothing"
      let advice =
        first.contains("missing required module")
        ? "Say where the map of that module is: -Xcc -fmodule-map-file=PATH/module.modulemap"
        : "Say where it is, as in: forward face \(module).SomeDelegate -I .build/debug/Modules"
      throw Missing(
        description: """
          swift symbolgraph-extract does not find the module '\(module)': \(first)
          \(advice)
          """)
    }
    try read(file)
  }

  private static func target() throws -> String {
    struct Information: Decodable {
      struct Target: Decodable { var triple: String }
      var target: Target
    }
    let said = try swift(["-print-target-info"])
    let read = try? JSONDecoder().decode(Information.self, from: said.output)
    guard let read else {
      throw Missing(description: "'swift -print-target-info' does not say for which machine it is")
    }
    return read.target.triple
  }

  private static func swift(_ arguments: [String]) throws -> (output: Data, errors: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["swift"] + arguments
    let folder = FileManager.default.temporaryDirectory
    // Errors go to a file, because a pipe that is not read would fill up and block the process.
    let errors = folder.appendingPathComponent("forward-\(UUID().uuidString)")
    guard FileManager.default.createFile(atPath: errors.path, contents: nil) else {
      throw Missing(description: "'\(folder.path)' cannot be written")
    }
    defer { try? FileManager.default.removeItem(at: errors) }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (data, String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }
}
