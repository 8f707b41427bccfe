// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Makes the input of `docc`: for each library a catalog with its articles, and its symbols.
package struct Catalogs {
  let root: URL
  /// The path of the site on its server: empty, or with a slash in front.
  let base: String

  package init(root: URL, base: String) { (self.root, self.base) = (root, base) }

  /// Bottom to top: the comments of a library link to symbols of the libraries before it.
  static let libraries = [
    "TypeEncodings", "Invocations", "Forwarding", "InvocationText", "ForwardingUndo",
    "ForwardingTesting", "ForwardingWire", "ForwardingJournal", "ForwardingRemote",
    "ForwardingNATS",
  ]

  private func catalog(_ library: String) -> URL {
    root.appendingPathComponent("Sources/\(library)/\(library).docc")
  }

  private func landing(_ library: String) throws -> String {
    let file = catalog(library).appendingPathComponent("\(library).md")
    return try String(contentsOf: file, encoding: .utf8)
  }

  /// The pages that the landing pages of the libraries name, by their paths.
  package func pages() throws -> [String: Page] {
    var pages: [String: Page] = [:]
    for library in Self.libraries {
      for path in Self.named(in: try landing(library)) {
        let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        pages[path] = try Page(path: path, product: library, text: text)
      }
    }
    return pages
  }

  /// Writes `<output>/<library>.docc` and `<output>/<library>.graph` for each library, and returns
  /// the faults of the comments.
  func write(graphs: URL, output: URL) throws -> [String] {
    let pages = try pages()
    var faults: [String] = []
    var homes: [String: String] = [:]
    for library in Self.libraries {
      let copy = output.appendingPathComponent("\(library).docc")
      let folder = output.appendingPathComponent("\(library).graph")
      for place in [copy, folder] { try? FileManager.default.removeItem(at: place) }
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: catalog(library), to: copy)

      let symbols = "\(library).symbols.json"
      var graph = try SymbolGraph(
        Data(contentsOf: graphs.appendingPathComponent(symbols)), of: library)
      faults += graph.faults
      graph.link(to: homes)
      for name in graph.names { homes[name] = homes[name] ?? library }
      try graph.write(to: folder.appendingPathComponent(symbols))

      let text = try Self.filled(landing(library), pages)
      try text.write(
        to: copy.appendingPathComponent("\(library).md"), atomically: true, encoding: .utf8)
      for page in pages.values where page.product == library {
        try page.text(pages, base: base).write(
          to: copy.appendingPathComponent("\(page.article).md"), atomically: true, encoding: .utf8)
      }
      for name in graph.names
      where !["``", "-"].contains(where: { text.contains("- ``\(name)\($0)") }) {
        faults.append("\(library) does not lead to \(name)")
      }
    }
    return faults
  }

  /// The paths in the comments `<!-- pages: … -->` of a landing page.
  private static func named(in landing: String) -> [String] {
    landing.matches(of: /<!-- pages: (.*) -->/).flatMap { match in
      match.1.split(separator: " ").map(String.init)
    }
  }

  /// A landing page with the articles in place of the comments that name their pages.
  package static func filled(_ landing: String, _ pages: [String: Page]) throws -> String {
    try landing.components(separatedBy: "\n").flatMap { line in
      let named = named(in: line)
      if named.isEmpty { return [line] }
      return try named.map { path in
        guard let page = pages[path] else { throw Fault("there is no page \(path)") }
        return "- <doc:\(page.article)>"
      }
    }.joined(separator: "\n")
  }
}

/// A fault of the documentation, as a sentence.
package struct Fault: Error, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}
