// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@Suite("The figures that pages show", .readsTextsAlone)
struct FigureTests {
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
