// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Report {
  /// The rows that the README shows, beside the two closures. The page on measuring has all of them.
  private static let first = [
    "invoke/recorded", "message/one", "callback/two", "pow/looked-up", "boxes/16", "proxy/weak-16",
  ]

  /// Writes the tables between the markers of a page.
  func writeTables(into path: String) throws {
    let chosen = [BenchRows.local, BenchRows.property] + Self.first
    let facts = environment.map { "\($0.name) \($0.value)" }
    var text = try String(contentsOfFile: path, encoding: .utf8)
    // The closures stand in the first table, and each ratio is to them.
    let all = groups.enumerated().map { index, group in
      (group.title, index == 0 ? group.rows : Array(group.rows.dropFirst(2)))
    }
    for (mark, table, facts) in [
      ("<!-- measured first:", tables([("", chosen.compactMap(row))]), facts.prefix(3)),
      ("<!-- measured:", tables(all), facts[...]),
    ] {
      guard let begin = text.range(of: mark),
        let line = text[begin.upperBound...].firstIndex(of: "\n"),
        let end = text[line...].range(of: "<!-- end -->")
      else { continue }
      let shown = table + "\n\(facts.joined(separator: ", "))\n"
      text.replaceSubrange(text.index(after: line)..<end.lowerBound, with: shown)
      print("wrote a table into \(path)")
    }
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }

  private func tables(_ groups: [(title: String, rows: [Measurement])]) -> String {
    groups.map { title, rows in
      (title.isEmpty ? "" : "**\(title)**\n\n")
        + """
        | what | row | ns | ÷ local closure | ÷ closure in a property | ÷ by hand |
        |---|---|---:|---:|---:|---:|

        """
        + rows.map { row in
          let cells = ([row.what, "`\(row.name)`", Self.text(row.minimum)] + ratios(row))
          return "| \(cells.joined(separator: " | ")) |\n"
        }.joined()
    }.joined(separator: "\n")
  }
}
