extension Report {
  /// The report as one HTML page that needs nothing else: tables, bars and charts, readable in light
  /// and in dark.
  public var page: String {
    var groups: [(name: String, rows: [Measurement])] = []
    for row in rows {
      let group = row.group
      if let index = groups.firstIndex(where: { $0.name == group }) {
        groups[index].rows.append(row)
      } else {
        groups.append((group, [row]))
      }
    }
    let facts = environment.map {
      "<dt>\(Self.escaped($0.name))</dt><dd>\(Self.escaped($0.value))</dd>"
    }.joined(separator: "\n")
    let tables = groups.map { Self.section($0.name, $0.rows) }.joined(separator: "\n")
    let charts = curves.map { Chart(curve: $0).figure }.joined(separator: "\n")
    let skipped = skipped.map { "<li>\(Self.escaped($0))</li>" }.joined()
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Calls, measured</title>
      <style>\(Self.style)</style>
      </head>
      <body>
      <main>
      <h1>Calls, measured</h1>
      <p>All rows ran in one process, round by round in a changing order; the time is that of the
      best round. A bar as long as the mark is as slow as the row's baseline; green is
      faster. Compare ratios, not nanoseconds.</p>
      <dl>\(facts)</dl>
      \(skipped.isEmpty ? "" : "<ul class=\"skipped\">\(skipped)</ul>")
      \(charts.isEmpty ? "" : "<h2>How costs grow</h2><div class=\"charts\">\(charts)</div>")
      \(tables)
      </main>
      </body>
      </html>

      """
  }

  private static func section(_ name: String, _ rows: [Measurement]) -> String {
    let hasAllocations = rows.contains { $0.allocations != nil }
    let lines = rows.map { row -> String in
      let what = row.name.split(separator: "/").dropFirst().joined(separator: " / ")
      var cells = "<td class=\"name\">\(escaped(what))</td><td>\(text(row.minimum))</td>"
      cells += "<td class=\"quiet\">\(text(row.median))</td>"
      cells += "<td>\(row.ratio.map { text($0) + "×" } ?? "")</td>"
      if hasAllocations { cells += "<td>\(row.allocations.map { text($0) } ?? "")</td>" }
      cells += "<td class=\"bar\">\(row.ratio.map(drawing) ?? "")</td>"
      cells += "<td class=\"quiet name\">\(escaped(row.baseline ?? ""))</td>"
      return "<tr>\(cells)</tr>"
    }
    return """
      <h2>\(escaped(name))</h2>
      <div class="scroll"><table>
      <thead><tr><th class="name">row</th><th>ns</th><th class="quiet">median</th><th>ratio</th>\
      \(hasAllocations ? "<th>allocations</th>" : "")<th class="bar"></th>\
      <th class="quiet name">over</th></tr></thead>
      <tbody>\(lines.joined(separator: "\n"))</tbody>
      </table></div>
      """
  }

  /// A bar of at most four baselines, on a scale where one is marked.
  private static func drawing(_ ratio: Double) -> String {
    let width = min(ratio, 4) * 40
    let fill = ratio <= 1 ? "fast" : "slow"
    return "<svg width=\"172\" height=\"14\" role=\"img\" aria-label=\"\(text(ratio)) times\">"
      + "<rect class=\"\(fill)\" x=\"0\" y=\"2\" width=\"\(text(max(width, 1)))\" height=\"10\" rx=\"2\"/>"
      + "<line class=\"mark\" x1=\"40\" x2=\"40\" y1=\"0\" y2=\"14\"/>"
      + (ratio > 4 ? "<text class=\"more\" x=\"162\" y=\"11\">›</text>" : "") + "</svg>"
  }

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

  private static let style = """
    :root { color-scheme: light dark; --text: #1c1e21; --quiet: #62676e; --back: #ffffff;
      --line: #d9dce1; --fast: #1f883d; --slow: #b8670a; --a: #0b62c4; --b: #b8440a; --c: #1f883d;
      --d: #8038b8; }
    @media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --quiet: #9aa1ab;
      --back: #14161a; --line: #33373e; --fast: #4ac26b; --slow: #e0a13c; --a: #6cb0ff;
      --b: #ff9a62; --c: #4ac26b; --d: #cf9bff; } }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--back); color: var(--text);
      font: 15px/1.5 system-ui, sans-serif; }
    main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
    h1 { font-size: 1.6rem; margin: 0 0 .5rem; }
    h2 { font-size: 1.1rem; margin: 2.2rem 0 .5rem; }
    p { max-width: 46rem; color: var(--quiet); }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 1rem 0; }
    dt { color: var(--quiet); } dd { margin: 0; }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; min-width: 100%; font-variant-numeric: tabular-nums;
      table-layout: fixed; width: 60rem; }
    th, td { width: 5.6rem; } .name { width: 13.5rem; } th.bar, td.bar { width: 12.5rem; }
    th, td { text-align: right; padding: .22rem .7rem .22rem 0; border-bottom: 1px solid var(--line);
      white-space: nowrap; font-weight: 400; }
    th { color: var(--quiet); font-size: .85rem; }
    .name { text-align: left; } .quiet { color: var(--quiet); }
    .bar { text-align: left; padding-left: .6rem; } td svg { display: block; }
    .fast { fill: var(--fast); } .slow { fill: var(--slow); }
    .mark { stroke: var(--text); stroke-width: 1; opacity: .55; }
    .more { fill: var(--quiet); font-size: 12px; }
    .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(27rem, 1fr)); gap: 2rem; }
    figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .3rem; }
    figure svg { width: 100%; height: auto; display: block; }
    .axis { stroke: var(--line); } .tick, .label { fill: var(--quiet); font-size: 11px; }
    .curve { fill: none; stroke-width: 2; }
    .k0 { stroke: var(--a); } .k1 { stroke: var(--b); } .k2 { stroke: var(--c); }
    .k3 { stroke: var(--d); }
    .p0 { fill: var(--a); } .p1 { fill: var(--b); } .p2 { fill: var(--c); } .p3 { fill: var(--d); }
    .legend { fill: var(--text); font-size: 12px; }
    @media (max-width: 32rem) { .charts { grid-template-columns: 1fr; } }
    """
}

/// One chart: lines over a growing number, which is drawn by its logarithm.
private struct Chart {
  let curve: Curve

  private let width = 480.0
  private let left = 46.0
  private let right = 14.0
  private let top = 10.0
  private let height = 200.0

  private var xs: [Double] { curve.lines.flatMap { $0.points.map(\.x) } }
  private var top10: Double { niceTop(curve.lines.flatMap { $0.points.map(\.y) }.max() ?? 1) }

  /// The smallest round number that is no smaller.
  private func niceTop(_ value: Double) -> Double {
    var unit = 1.0
    while unit * 10 <= value { unit *= 10 }
    while unit > value, unit > 1e-6 { unit /= 10 }
    return [1, 2, 3, 4, 5, 6, 8, 10].map { $0 * unit }.first { $0 >= value } ?? value
  }

  /// Decades, counted without a library of mathematics.
  private func decades(_ value: Double) -> Double {
    var rest = max(value, 1)
    var count = 0.0
    while rest >= 10 {
      rest /= 10
      count += 1
    }
    // Between two decades: the fraction by repeated squaring.
    var fraction = 0.0
    var bit = 0.5
    for _ in 0..<20 {
      rest *= rest
      if rest >= 10 {
        rest /= 10
        fraction += bit
      }
      bit /= 2
    }
    return count + fraction
  }

  private func x(_ value: Double) -> Double {
    let first = decades(xs.min() ?? 1)
    let last = max(decades(xs.max() ?? 10), first + 0.1)
    return left + (decades(value) - first) / (last - first) * (width - left - right)
  }

  private func y(_ value: Double) -> Double { top + (1 - value / top10) * height }

  private func place(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

  private func short(_ value: Double) -> String {
    value >= 1e6
      ? "\(Int(value / 1e6))M" : value >= 1000 ? "\(Int(value / 1000))k" : "\(Int(value))"
  }

  var figure: String {
    var parts: [String] = []
    for step in 0...4 {
      let value = top10 * Double(step) / 4
      parts.append(
        "<line class=\"axis\" x1=\"\(left)\" x2=\"\(width - right)\" y1=\"\(place(y(value)))\""
          + " y2=\"\(place(y(value)))\"/>"
          + "<text class=\"tick\" text-anchor=\"end\" x=\"\(left - 6)\" y=\"\(place(y(value) + 4))\">"
          + "\(Report.text(value))</text>")
    }
    for value in Set(xs).sorted() {
      parts.append(
        "<text class=\"tick\" text-anchor=\"middle\" x=\"\(place(x(value)))\""
          + " y=\"\(top + height + 16)\">\(short(value))</text>")
    }
    for (index, line) in curve.lines.enumerated() {
      let points = line.points.map { "\(place(x($0.x))),\(place(y($0.y)))" }
      parts.append(
        "<polyline class=\"curve k\(index % 4)\" points=\"\(points.joined(separator: " "))\"/>")
      for point in line.points {
        parts.append(
          "<circle class=\"p\(index % 4)\" r=\"3\" cx=\"\(place(x(point.x)))\""
            + " cy=\"\(place(y(point.y)))\"><title>\(Report.escaped(line.name)): "
            + "\(short(point.x)), \(Report.text(point.y))</title></circle>")
      }
      let row = top + height + 52 + Double(index) * 18
      parts.append(
        "<rect class=\"p\(index % 4)\" x=\"\(left)\" y=\"\(place(row - 9))\" width=\"10\""
          + " height=\"10\" rx=\"2\"/><text class=\"legend\" x=\"\(left + 16)\""
          + " y=\"\(place(row))\">\(Report.escaped(line.name))</text>")
    }
    let bottom = top + height + 52 + Double(curve.lines.count) * 18
    parts.append(
      "<text class=\"label\" text-anchor=\"middle\" x=\"\(place((left + width) / 2))\""
        + " y=\"\(top + height + 32)\">\(Report.escaped(curve.xLabel))</text>")
    return """
      <figure><figcaption>\(Report.escaped(curve.title)), \(Report.escaped(curve.yLabel))</figcaption>
      <svg viewBox="0 0 \(Int(width)) \(Int(bottom))" role="img" \
      aria-label="\(Report.escaped(curve.title))">\(parts.joined())</svg></figure>
      """
  }
}
