// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@Suite("What others take from this repository, and the figures that pages show", .readsTextsAlone)
struct PublishingTests {
  @Test(
    "a manifest makes no warning an error, as a later compiler's warning would break a dependent",
    arguments: ["Package.swift", "Fuzz/Package.swift", "Benchmarks/Package.swift"])
  func manifests(_ path: String) throws {
    let text = try Repository.text(path)
    for word in ["treatAllWarnings", "treatWarning(", "-warnings-as-errors", "-Werror"] {
      #expect(!text.contains(word), "\(word)")
    }
  }

  @Test("the manifest has unsafe flags behind a trait only, so that other dependents get none")
  func unsafeFlags() throws {
    let uses = try Repository.text("Package.swift").components(separatedBy: ".unsafeFlags(")
      .dropFirst()
    #expect(!uses.isEmpty)
    for use in uses {
      let condition = use.firstRange(of: "))").map { use[..<$0.lowerBound] }
      #expect(try #require(condition).contains("traits: [\"Macros\"]"))
    }
  }

  @Test("the bill of materials has each row of the table of dependencies")
  func materials() throws {
    let data = Data(try Repository.text("bom.json").utf8)
    let bom = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let components = try #require(bom["components"] as? [[String: Any]])
    let rows = try Repository.text("Documentation/Dependencies.md").split(separator: "\n")
      .filter { $0.hasPrefix("| ") }.dropFirst()
    #expect(rows.count == components.count && !rows.isEmpty)
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
    let manifest = try Repository.text("Package.swift")
    let site = try Repository.text("Tests/DocumentationSite/Catalogs.swift")
    let index = try Repository.text(".spi.yml")
    let list = try #require(manifest.firstMatch(of: /products: \[([^\]]+)\]\.map/)).1
    let libraries = list.matches(of: /"(\w+)"/).map { String($0.1) }
    #expect(libraries.contains("Forwarding"))
    for library in libraries {
      #expect(site.contains("\"\(library)\""), "\(library)")
      #expect(index.contains("- \(library)\n"), "\(library)")
    }
  }

  private struct Run: Decodable {
    struct Row: Decodable {
      let name: String
      let ns_min: Double
    }
    let rows: [Row]
  }

  @Test(
    "each row of a table stands in the recorded run with its figure",
    arguments: ["README.md", "Documentation/Measuring.md"])
  func tables(_ page: String) throws {
    let recorded = try Repository.text("Benchmarks/Results/linux-x86_64.json")
    let run = try JSONDecoder().decode(Run.self, from: Data(recorded.utf8))
    let times = Dictionary(run.rows.map { ($0.name, $0.ns_min) }) { first, _ in first }
    #expect(times.count == run.rows.count && times.count <= 60, "one name for one row")
    var shown = 0
    for line in try Repository.lines(page) {
      guard let row = line.firstMatch(of: /\| `([a-z-]+\/[a-z0-9-]+)` \| ([0-9.,]+) \|/) else {
        continue
      }
      let figure = Double(String(row.2).replacing(",", with: "")) ?? .nan
      let time = times[String(row.1)] ?? .nan
      #expect(abs(figure - time) <= max(0.0051, time * 0.0051), "\(row.1)")
      shown += 1
    }
    #expect(shown >= 8, "the tables are there")
  }
}
