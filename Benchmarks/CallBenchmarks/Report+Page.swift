// SPDX-License-Identifier: Apache-2.0
extension Report {
  /// The report as one self-contained HTML page: three comparisons, the growth of costs, and all
  /// rows. It is readable in light and dark mode, on paper and on a narrow screen.
  public var page: String {
    let machine = environment.map {
      $0.name == "processor" || $0.name == "system" ? $0.value : "\($0.name) \($0.value)"
    }
    .joined(separator: ", ")
    let skipped = skipped.map { "<li>\(Self.escaped($0))</li>" }.joined()
    let comparisons = Comparison.opening.enumerated().map { $1.figure(of: self, number: $0 + 1) }
    let curves = curves.enumerated().map { $1.figure(number: $0 + 1) }
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Calls, measured</title>
      <style>
      \(Self.style)
      </style>
      </head>
      <body>
      \(Curve.shapes)
      <main>
      <h1>Calls, measured</h1>
      <p>What calls cost here and elsewhere: all rows ran in one process, in turn, and each time is that
      of a row's best round, so compare lengths and ratios, not nanoseconds.</p>
      \(machine.isEmpty ? "" : "<p class=\"machine\">Measured on \(Self.escaped(machine)).</p>")
      \(skipped.isEmpty ? "" : "<ul class=\"note skipped\">\(skipped)</ul>")
      \(Self.section("At a glance", comparisons, "comparisons"))
      \(Self.section("How costs grow", curves, "curves"))
      <h2>All rows</h2>
      <p>A bar as long as its mark is as slow as the row's baseline, which stands last; a longer one is
      slower.</p>
      \(table)
      </main>
      </body>
      </html>

      """
  }

  private static func section(_ heading: String, _ figures: [String], _ kind: String) -> String {
    let figures = figures.filter { !$0.isEmpty }
    guard !figures.isEmpty else { return "" }
    return """
      <h2>\(heading)</h2>
      <div class="\(kind)">
      \(figures.joined(separator: "\n"))
      </div>
      """
  }

  // MARK: The rows

  /// All rows in one table, grouped, in the order of the first row of each group.
  private var table: String {
    var groups: [(name: String, rows: [Measurement])] = []
    for row in rows {
      if let index = groups.firstIndex(where: { $0.name == row.group }) {
        groups[index].rows.append(row)
      } else {
        groups.append((row.group, [row]))
      }
    }
    // A value that only some runs count has a column only if it was counted.
    var columns: [(name: String, kind: String, cell: (Measurement) -> String)] = [
      ("ns", "", { Self.text($0.minimum) }),
      ("ratio", "", { $0.ratio.map { Self.text($0) + "×" } ?? "" }),
      ("median", "quiet", { Self.text($0.median) }),
    ]
    for (name, count) in [
      ("allocations", \Measurement.allocations), ("instructions", \Measurement.instructions),
    ] where rows.contains(where: { $0[keyPath: count] != nil }) {
      columns.append((name, "", { $0[keyPath: count].map { $0 == 0 ? "0" : Self.text($0) } ?? "" }))
    }
    columns.append(("", "drawn", { $0.ratio.map(Self.drawing) ?? "" }))
    columns.append(("over", "name quiet", { Self.escaped($0.baseline ?? "") }))
    let heads = columns.map { "<th scope=\"col\" class=\"\($0.kind)\">\($0.name)</th>" }.joined()
    let bodies = groups.map { group in
      let lines = group.rows.map { row in
        let what = row.name.split(separator: "/").dropFirst().joined(separator: " / ")
        return "<tr><th scope=\"row\" class=\"name\">\(Self.escaped(what))</th>"
          + columns.map { "<td class=\"\($0.kind)\">\($0.cell(row))</td>" }.joined() + "</tr>"
      }
      return "<tbody><tr><th scope=\"rowgroup\" class=\"name\" colspan=\"\(columns.count + 1)\">"
        + "\(Self.escaped(group.name))</th></tr>\n\(lines.joined(separator: "\n"))</tbody>"
    }
    return Self.scrolling(
      "All rows",
      "<thead><tr><th scope=\"col\" class=\"name\">row</th>\(heads)</tr></thead>\n"
        + bodies.joined(separator: "\n"))
  }

  /// A bar for a ratio of at most four, with a mark at one.
  private static func drawing(_ ratio: Double) -> String {
    let width = min(ratio, 4) * 40
    let fill = ratio <= 1 ? "fast" : "slow"
    return "<svg width=\"172\" height=\"14\" aria-hidden=\"true\">"
      + "<rect class=\"\(fill)\" x=\"0\" y=\"2\" width=\"\(pixels(max(width, 1)))\" height=\"10\" rx=\"2\"/>"
      + "<line class=\"mark\" x1=\"40\" x2=\"40\" y1=\"0\" y2=\"14\"/>"
      + (ratio > 4 ? "<path class=\"more\" d=\"M164 3l4 4l-4 4\"/>" : "") + "</svg>"
  }

  // MARK: Parts of the page

  /// A table that opens below a picture.
  static func details(_ summary: String, _ table: String) -> String {
    "<details><summary>\(summary)</summary>\n\(scrolling(summary, table))\n</details>"
  }

  /// A table that scrolls by hand or with keys if the screen is too narrow for it.
  private static func scrolling(_ name: String, _ table: String) -> String {
    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"\(escaped(name))\"><table>\n\(table)\n</table></div>"
  }

  /// A fraction as a percentage, for a picture without a fixed width.
  static func percent(_ place: Double) -> String { "\((place * 10_000).rounded() / 100)%" }

  static func pixels(_ place: Double) -> String { "\((place * 10).rounded() / 10)" }

  static func escaped(_ text: String) -> String {
    var out = ""
    for character in text {
      switch character {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      default: out.append(character)
      }
    }
    return out
  }
}
