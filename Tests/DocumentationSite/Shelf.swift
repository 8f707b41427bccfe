// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A library of the package: its modules, and the pages that belong to it.
struct Shelf {
  let product: String
  /// The folders whose symbols the library shows, below `Sources`.
  let modules: [String]
  /// Paths below the root of the package.
  let pages: [String]

  /// Bottom to top: the comments of a module link to symbols of the modules before it.
  static let all = [
    Shelf("TypeEncodings", pages: ["Documentation/TypeEncodings.md"]),
    Shelf(
      "Invocations",
      pages: ["Documentation/Invocations.md", "Documentation/CFunctionPointers.md"]),
    Shelf(
      "Forwarding",
      pages: [
        "README.md", "SECURITY.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md",
        "RELEASING.md",
        "Documentation/README.md", "Documentation/Delegates.md", "Documentation/Forwarding.md",
        "Documentation/Concurrency.md", "Documentation/Migrating.md", "Documentation/Clients.md",
        "Documentation/Architecture.md", "Documentation/Measuring.md",
        "Documentation/Tool.md", "Documentation/Stability.md", "Documentation/Platforms.md",
        "Documentation/Dependencies.md", "Documentation/Status.md", "Documentation/Internals",
      ]),
    Shelf("InvocationText"),
    Shelf("ForwardingUndo", pages: ["Documentation/Undo.md"]),
    Shelf("ForwardingTesting", pages: ["Documentation/Testing.md"]),
    Shelf("ForwardingWire", pages: ["Documentation/Wire.md"]),
    Shelf("ForwardingJournal", pages: ["Documentation/Journal.md"]),
    Shelf(
      "ForwardingRemote", pages: ["Documentation/Remote.md", "Documentation/Growth.md"]),
    Shelf("ForwardingNATS"),
  ]

  init(_ product: String, modules: [String]? = nil, pages: [String] = []) {
    self.product = product
    self.modules = modules ?? [product]
    self.pages = pages
  }

  /// The pages, with each folder replaced by the pages in it.
  func pages(below root: URL) throws -> [String] {
    try pages.flatMap { path -> [String] in
      guard !path.hasSuffix(".md") else { return [path] }
      let folder = root.appendingPathComponent(path).path
      return try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".md") }.sorted().map { "\(path)/\($0)" }
    }
  }
}

/// A fault of the documentation, as a sentence.
struct Fault: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
