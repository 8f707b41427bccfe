// SPDX-License-Identifier: Apache-2.0
// The picture has no width of its own: horizontal positions are percentages, so that its text keeps
// its size on a narrow screen.
extension Comparison {
  /// The chart, its description in words, and its table. Empty if no row was measured.
  func figure(of report: Report, number: Int) -> String {
    let parts = bars(in: report)
    guard !parts.isEmpty else { return "" }
    let scale = Scale.bars(parts.flatMap { $0.bars.map(\.time) })
    let words = scale.words.isEmpty ? "" : "; \(scale.words)"
    let missing = missing(in: report).map { "<li>\(Report.escaped($0))</li>" }.joined()
    let left =
      missing.isEmpty ? "" : "<ul class=\"note\">\(missing)</ul>"
    return """
      <figure class="comparison" id="comparison-\(number)">
      <figcaption>\(Report.escaped(title))</figcaption>
      <p class="note">\(Report.escaped(what))</p>
      \(picture(parts, scale, number))
      <p class="axis-words">\(unit)\(words)</p>
      <p class="note">\(Report.escaped(note))</p>
      \(left)
      \(table(parts))
      </figure>
      """
  }

  private func picture(
    _ parts: [(name: String, bars: [Bar])], _ scale: Scale, _ number: Int
  ) -> String {
    var drawn = ""
    var y = 0
    for part in parts {
      drawn += "<text class=\"part\" x=\"0\" y=\"\(y + 16)\">\(Report.escaped(part.name))</text>"
      y += 28
      for bar in part.bars {
        drawn += Self.drawing(bar, scale, y)
        y += 34
      }
      y += 8
    }
    let lines = scale.marks.map { mark -> String in
      let place = scale.place(mark)
      let x = Report.percent(place)
      let anchor = place < 0.03 ? "start" : place > 0.95 ? "end" : "middle"
      return "<line class=\"grid\" x1=\"\(x)\" x2=\"\(x)\" y1=\"24\" y2=\"\(y)\"/>"
        + "<text class=\"tick\" text-anchor=\"\(anchor)\" x=\"\(x)\" y=\"\(y + 16)\">"
        + "\(Scale.text(mark))</text>"
    }
    let said = parts.map { part in
      part.name + ": "
        + part.bars.map { "\($0.way.name) \(Report.text($0.time)) ns" }.joined(separator: ", ")
    }
    return """
      <svg class="picture" role="img" aria-labelledby="title-\(number) desc-\(number)" \
      width="100%" height="\(y + 22)">
      <title id="title-\(number)">\(Report.escaped(title))</title>
      <desc id="desc-\(number)">\(Report.escaped(said.joined(separator: "; ")))</desc>
      \(lines.joined())
      \(drawn)
      </svg>
      """
  }

  private static func drawing(_ bar: Bar, _ scale: Scale, _ y: Int) -> String {
    // A bar of almost no time keeps about one pixel.
    let width = Report.percent(max(scale.place(bar.time), 0.003))
    return """
      <g class="bar\(bar.way.isOurs ? " ours" : "")" data-row="\(Report.escaped(bar.way.row))">\
      <text class="name" x="0" y="\(y + 12)">\(Report.escaped(bar.way.name))</text>\
      <text class="value" text-anchor="end" x="100%" y="\(y + 12)">\(Report.text(bar.time)) ns</text>\
      <rect x="0" y="\(y + 17)" width="\(width)" height="9" rx="1.5"/></g>
      """
  }

  private func table(_ parts: [(name: String, bars: [Bar])]) -> String {
    let rows = parts.map { part in
      "<tr><th colspan=\"4\" class=\"name\" scope=\"rowgroup\">\(Report.escaped(part.name))</th></tr>"
        + part.bars.map { bar in
          "<tr\(bar.way.isOurs ? " class=\"ours\"" : "")><td class=\"name\">"
            + "\(Report.escaped(bar.way.name))</td><td>\(Report.text(bar.time))</td>"
            + "<td>\(bar.times.map { Report.text($0) + "×" } ?? "")</td>"
            + "<td class=\"name\"><code>\(Report.escaped(bar.way.row))</code></td></tr>"
        }.joined(separator: "\n")
    }
    return Report.details(
      "The figures of this chart",
      """
      <thead><tr><th class="name" scope="col">way</th><th scope="col">ns</th>\
      <th scope="col">over ours</th><th class="name" scope="col">row</th></tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody>
      """)
  }
}
