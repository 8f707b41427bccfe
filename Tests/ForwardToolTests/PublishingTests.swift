// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@Suite("What others take from this repository", .readsTextsAlone)
struct PublishingTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOf: SnippetTests.root.appendingPathComponent(path), encoding: .utf8)
  }

  @Test(
    "a manifest makes no warning an error, as a later compiler's warning would break a dependent",
    arguments: ["Package.swift", "Fuzz/Package.swift", "Benchmarks/Package.swift"])
  func manifests(_ path: String) throws {
    let text = try Self.text(path)
    for word in ["treatAllWarnings", "treatWarning(", "-warnings-as-errors", "-Werror"] {
      #expect(!text.contains(word), "\(word)")
    }
  }

  @Test("the manifest has unsafe flags behind a trait only, so that other dependents get none")
  func unsafeFlags() throws {
    let uses = try Self.text("Package.swift").components(separatedBy: ".unsafeFlags(").dropFirst()
    #expect(uses.count >= 4)
    for use in uses {
      let condition = use.firstRange(of: "))").map { use[..<$0.lowerBound] }
      #expect(try #require(condition).contains("traits: [\"Macros\"]"))
    }
  }

  @Test("warnings are errors in each build of the tests, with the same flags in build and test")
  func flags() throws {
    let flags = try Self.text("Scripts/strict.flags")
    #expect(flags.hasPrefix("-Xswiftc -warnings-as-errors -Xcc -Werror "))
    let make = try Self.text("Makefile").split(separator: "\n")
    let builds = make.filter {
      $0.hasPrefix("\t") && $0.contains(/swift (build --build-tests|test)|tests\.sh/)
    }
    #expect(builds.count >= 10)
    for line in builds { #expect(line.contains("$(STRICT)"), "\(line)") }
    for name in ["sanitize", "matrix", "images", "builds", "fuzz", "docs"] {
      #expect(try Self.text("Scripts/\(name).sh").contains("Scripts/strict.flags"), "\(name)")
    }
  }

  @Test("a build with two traits has them in the same order each time, and compiles nothing twice")
  func order() throws {
    let scripts = FileManager.default.enumerator(
      atPath: SnippetTests.root.appendingPathComponent("Scripts").path)
    let paths = scripts?.compactMap { $0 as? String }.filter { $0.hasSuffix(".sh") } ?? []
    let builds = try (["Makefile"] + paths.map { "Scripts/\($0)" }).flatMap {
      try Self.text($0).split(separator: "\n")
    }.filter { $0.contains(/swift build .*--traits \w+,/) }
    #expect(builds.count >= 3)
    for line in builds {
      #expect(line.contains("$(ORDERED) ") || line.contains("SWIFT_DETERMINISTIC_HASHING=1 "))
    }
  }

  @Test("each page of the documentation belongs to one library, whose landing page leads to it")
  func shelves() throws {
    let shelves = try Self.text("Tests/DocumentationSite/Shelf.swift")
    func pages(_ folder: String) -> [String] {
      let path = SnippetTests.root.appendingPathComponent(folder).path
      let all = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
      return all.filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
    }
    let landings = try pages("Sources").filter { $0.contains(".docc/") }.map(Self.text)
      .joined(separator: "\n")
    let known = Set(landings.split { $0 == " " || $0 == "\n" }.map(String.init))
    let all = pages("Documentation")
    #expect(all.count > 30)
    for page in all {
      let isShelved = shelves.contains("\"\(page)\"")
      #expect(isShelved || page.hasPrefix("Documentation/Internals/"), "\(page)")
      #expect(known.contains(page), "\(page)")
    }
  }

  @Test("a workflow calls make and nothing else")
  func workflows() throws {
    let folder = ".github/workflows"
    let names = try FileManager.default.contentsOfDirectory(
      atPath: SnippetTests.root.appendingPathComponent(folder).path)
    #expect(!names.isEmpty)
    for name in names {
      let lines = try Self.text("\(folder)/\(name)").split(separator: "\n")
        .map { $0.trimmingCharacters(in: .whitespaces) }
      let commands = lines.compactMap { line in
        line.firstMatch(of: /^(?:- )?run: (.*)$/).map { String($0.1) }
      }
      #expect(!commands.isEmpty, "\(name)")
      for command in commands { #expect(command.hasPrefix("make "), "\(name): \(command)") }
    }
  }

  @Test("the bill of materials has each row of the table of dependencies")
  func materials() throws {
    let data = Data(try Self.text("bom.json").utf8)
    let bom = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let components = try #require(bom["components"] as? [[String: Any]])
    let rows = try Self.text("Documentation/Dependencies.md").split(separator: "\n")
      .filter { $0.hasPrefix("| ") }.dropFirst()
    #expect(rows.count == components.count && rows.count >= 4)
    for (row, component) in zip(rows, components) {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let licence = (component["licenses"] as? [[String: Any]])?.first
      let name = (licence?["license"] as? [String: Any])?["id"] ?? licence?["expression"]
      #expect(cells[0] == component["name"] as? String)
      #expect(cells[1] == component["version"] as? String)
      #expect(cells[2] == name as? String)
    }
  }

  @Test("each library that the manifest offers has its documentation, and is built by the index")
  func libraries() throws {
    let manifest = try Self.text("Package.swift")
    let shelves = try Self.text("Tests/DocumentationSite/Shelf.swift")
    let index = try Self.text(".spi.yml")
    let libraries = manifest.matches(of: /\.library\(name: "([A-Z]\w+)"/).map { String($0.1) }
    #expect(libraries.count == 11)
    for library in libraries {
      #expect(shelves.contains("\"\(library)\""), "\(library)")
      #expect(index.contains("- \(library)\n"), "\(library)")
    }
  }
}
