// SPDX-License-Identifier: Apache-2.0
extension Curve {
  /// Lines differ in their colors and in the shapes of their points; there are this many of them.
  static let styles = 8
  private static let height = 220.0

  private struct Line {
    let name: String
    let style: Int
    let points: [(x: Double, y: Double)]
  }

  /// The lines that have points which can be drawn.
  private var drawable: [Line] {
    lines.enumerated().map { index, line in
      Line(
        name: line.name, style: index % Self.styles,
        points: line.points.filter { $0.x.isFinite && $0.y.isFinite && $0.x >= 0 && $0.y >= 0 }
          .sorted { $0.x < $1.x })
    }.filter { !$0.points.isEmpty }
  }

  /// The chart, the description of its axes, and its table. Empty if there are no points.
  func figure(number: Int) -> String {
    let lines = drawable
    guard !lines.isEmpty else { return "" }
    let across = Scale.growing(lines.flatMap { $0.points.map(\.x) })
    let up = Scale.heights(lines.flatMap { $0.points.map(\.y) })
    let (acrossWords, upWords) = (across.isLogarithmic ? ", log scale" : "", up.words)
    let legend = lines.map { line in
      "<li><svg width=\"28\" height=\"12\" aria-hidden=\"true\" class=\"k\(line.style)\">"
        + "<line class=\"curve\" x1=\"1\" x2=\"27\" y1=\"6\" y2=\"6\"/>"
        + "<use href=\"#point-\(line.style)\" x=\"14\" y=\"6\"/></svg>"
        + "<span>\(Report.escaped(line.name))</span></li>"
    }
    return """
      <figure class="growth" id="curve-\(number)">
      <figcaption>\(Report.escaped(title))</figcaption>
      <p class="axis-words">\(Report.escaped(yLabel))\(upWords.isEmpty ? "" : "; " + upWords)</p>
      \(picture(lines, across, up, number))
      <p class="axis-words across">\(Report.escaped(xLabel))\(acrossWords)</p>
      <ul class="legend">\(legend.joined())</ul>
      \(table(lines))
      </figure>
      """
  }

  private func picture(_ lines: [Line], _ across: Scale, _ up: Scale, _ number: Int) -> String {
    func x(_ value: Double) -> String { Report.percent(across.place(value)) }
    func y(_ value: Double) -> String { Report.pixels((1 - up.place(value)) * Self.height) }
    var drawn = up.marks.map { mark in
      "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"\(y(mark))\" y2=\"\(y(mark))\"/>"
        + "<text class=\"tick\" text-anchor=\"end\" x=\"-8\" y=\"\(y(mark))\" dy=\"4\">"
        + "\(Scale.text(mark))</text>"
    }
    drawn += across.marks.map { mark in
      "<line class=\"grid\" x1=\"\(x(mark))\" x2=\"\(x(mark))\" y1=\"\(Int(Self.height))\""
        + " y2=\"\(Int(Self.height) + 5)\"/>"
        + "<text class=\"tick\" text-anchor=\"middle\" x=\"\(x(mark))\""
        + " y=\"\(Int(Self.height) + 18)\">\(Scale.text(mark))</text>"
    }
    for line in lines {
      let parts = zip(line.points, line.points.dropFirst()).map { from, to in
        "<line class=\"curve\" x1=\"\(x(from.x))\" y1=\"\(y(from.y))\""
          + " x2=\"\(x(to.x))\" y2=\"\(y(to.y))\"/>"
      }
      let points = line.points.map { point in
        "<use href=\"#point-\(line.style)\" x=\"\(x(point.x))\" y=\"\(y(point.y))\"><title>"
          + "\(Report.escaped(line.name)): \(Scale.text(point.x)), \(Report.text(point.y))"
          + "</title></use>"
      }
      drawn.append("<g class=\"line k\(line.style)\">\(parts.joined())\(points.joined())</g>")
    }
    let said = lines.map { line in
      let ends = [line.points.first, line.points.last].compactMap { $0 }
      return line.name + " "
        + ends.map { "\(Report.text($0.y)) at \(Scale.text($0.x))" }.joined(separator: ", ")
    }
    return """
      <svg class="picture" role="img" aria-labelledby="curve-title-\(number) curve-desc-\(number)" \
      width="100%" height="\(Int(Self.height) + 38)">
      <title id="curve-title-\(number)">\(Report.escaped(title))</title>
      <desc id="curve-desc-\(number)">\(Report.escaped("\(yLabel): \(said.joined(separator: "; "))"))</desc>
      \(drawn.joined(separator: "\n"))
      </svg>
      """
  }

  private func table(_ lines: [Line]) -> String {
    let heads = lines.map { "<th scope=\"col\">\(Report.escaped($0.name))</th>" }.joined()
    let rows = Set(lines.flatMap { $0.points.map(\.x) }).sorted().map { number in
      "<tr><th scope=\"row\">\(Report.text(number))</th>"
        + lines.map { line in
          "<td>\(line.points.first { $0.x == number }.map { Report.text($0.y) } ?? "")</td>"
        }.joined() + "</tr>"
    }
    return Report.details(
      "The figures of this chart",
      """
      <thead><tr><th scope="col">\(Report.escaped(xLabel))</th>\(heads)</tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody>
      """)
  }

  /// The shapes of points, shared by all charts.
  static var shapes: String {
    let paths = [
      "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-3.5 -3.5h7v7h-7z", "M0 -4.6l4.4 7.6h-8.8z",
      "M0 -5l5 5l-5 5l-5 -5z",
    ]
    let shapes = (0..<styles).map { style in
      "<path id=\"point-\(style)\" class=\"\(style < paths.count ? "full" : "hollow")\""
        + " d=\"\(paths[style % paths.count])\"/>"
    }
    return "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" class=\"shapes\"><defs>"
      + shapes.joined() + "</defs></svg>"
  }
}
