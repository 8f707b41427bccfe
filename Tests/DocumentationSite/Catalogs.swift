// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Makes the input of `docc`: for each library a catalog with its articles, and its symbols.
struct Catalogs {
  let root: URL
  /// The path of the site on its server: empty, or with a slash in front.
  let base: String

  func pages() throws -> [String: Page] {
    var pages: [String: Page] = [:]
    for shelf in Shelf.all {
      for path in try shelf.pages(below: root) {
        let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        pages[path] = try Page(path: path, product: shelf.product, text: text)
      }
    }
    return pages
  }

  /// The catalog of a library in the sources.
  func source(_ shelf: Shelf) throws -> URL {
    let sources = root.appendingPathComponent("Sources")
    for folder in try FileManager.default.contentsOfDirectory(atPath: sources.path) {
      let catalog = sources.appendingPathComponent(
        "\(folder)/\(shelf.product)/\(shelf.product).docc")
      if FileManager.default.fileExists(atPath: catalog.path) { return catalog }
    }
    throw Fault("\(shelf.product) has no catalog")
  }

  /// Writes `<output>/<library>.docc` and `<output>/<library>.graph` for each library, and returns
  /// the faults of the comments.
  func write(graphs: URL, output: URL) throws -> [String] {
    let pages = try pages()
    var faults: [String] = []
    var homes: [String: String] = [:]
    for shelf in Shelf.all {
      let catalog = output.appendingPathComponent("\(shelf.product).docc")
      let folder = output.appendingPathComponent("\(shelf.product).graph")
      for place in [catalog, folder] { try? FileManager.default.removeItem(at: place) }
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: source(shelf), to: catalog)

      let data = try Data(
        contentsOf: graphs.appendingPathComponent("\(shelf.product).symbols.json"))
      var graph = try SymbolGraph(data, of: shelf)
      faults += graph.faults
      graph.link(to: homes)
      for name in graph.names { homes[name] = homes[name] ?? shelf.product }
      try graph.write(to: folder.appendingPathComponent("\(shelf.product).symbols.json"))

      let landing = catalog.appendingPathComponent("\(shelf.product).md")
      let text = try String(contentsOf: landing, encoding: .utf8)
      let (filled, shown) = try Self.filled(text, pages)
      try filled.write(to: landing, atomically: true, encoding: .utf8)
      for path in try shelf.pages(below: root) {
        if !shown.contains(path) { faults.append("\(shelf.product) does not lead to \(path)") }
        guard let page = pages[path] else { continue }
        try page.text(pages, base: base).write(
          to: catalog.appendingPathComponent("\(page.article).md"), atomically: true,
          encoding: .utf8)
      }
      for name in graph.names
      where !["``", "-"].contains(where: { filled.contains("- ``\(name)\($0)") }) {
        faults.append("\(shelf.product) does not lead to \(name)")
      }
    }
    return faults
  }

  /// A landing page with the articles that its comments `<!-- pages: … -->` name, and the paths of
  /// their pages.
  static func filled(
    _ text: String, _ pages: [String: Page]
  ) throws -> (text: String, shown: Set<String>) {
    var shown: Set<String> = []
    var result: [String] = []
    for line in text.components(separatedBy: "\n") {
      guard let match = line.wholeMatch(of: /<!-- pages: (.*) -->/) else {
        result.append(line)
        continue
      }
      for path in match.1.split(separator: " ").map(String.init) {
        guard let page = pages[path] else { throw Fault("there is no page \(path)") }
        shown.insert(path)
        result.append("- <doc:\(page.article)>")
      }
    }
    return (result.joined(separator: "\n"), shown)
  }
}
