// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Report {
  /// The run as one page of HTML, with a bar for each row. It needs no network and runs no script.
  ///
  /// Lengths are percentages, so that text keeps its size on a narrow screen.
  var page: String {
    let facts = environment.map { "\($0.name): \($0.value)" }.joined(separator: " · ")
    let left = skipped.map { "<p class=\"quiet\">Left out: \(Self.escaped($0))</p>\n" }.joined()
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>What calls cost</title>
      <style>\(Self.style)</style>
      </head>
      <body><main>
      <h1>What calls cost</h1>
      <p>Nanoseconds for one call, in the best of many rounds of one process. Blue bars are calls through
      this package. Gray bars are what a program would have instead: every group has a closure in a local
      variable and one in a property of a class. Figures of two machines do not compare.</p>
      <p class="quiet">\(Self.escaped(facts))</p>
      \(left)\(groups.filter { $0.rows.count > 2 }.flatMap(charts).joined(separator: "\n"))
      </main></body>
      </html>

      """
  }

  /// The rows in tables by what they are about. Each begins with the two closures.
  var groups: [(title: String, rows: [Measurement])] {
    let titles = [
      ("Calls", ["invoke", "message", "answers", "gnustep", "undo", "spy"]),
      ("Delegates", ["boxes", "proxy", "notification", "ask", "ask-all", "add"]),
      ("Waiting", ["await", "queue", "blocking"]),
      ("C functions", ["ffi", "pow", "text"]),
      ("Closures as C functions", ["loop", "callback", "scoped", "peer", "qsort"]),
    ]
    let closures = [BenchRows.local, BenchRows.property].compactMap(row)
    return titles.map { title, names in
      let own = names.flatMap { name in self.rows.filter { $0.group == name } }
      return (title, closures + own)
    }
  }

  /// The description of this machine.
  static var thisMachine: [(name: String, value: String)] {
    var found: [(name: String, value: String)] = []
    func lines(_ path: String) -> [Substring] {
      ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n")
    }
    let processors = lines("/proc/cpuinfo").filter { $0.hasPrefix("model name") }
    if let name = processors.first?.split(separator: ":").last {
      found.append(("processor", name.drop { $0 == " " } + ", \(processors.count) cores"))
    }
    if let system = lines("/etc/os-release").first(where: { $0.hasPrefix("PRETTY_NAME=") }) {
      found.append(("system", system.dropFirst(12).filter { $0 != "\"" }))
    }
    return found
  }

  private static let others = [
    "closure", "boxes", "notification", "gnustep", "ffi", "loop", "peer",
  ]

  private func isOurs(_ row: Measurement) -> Bool {
    let which = row.name.drop { $0 != "/" }
    return !which.hasPrefix("/by-hand") && which != "/pointer" && which != "/c"
      && !Self.others.contains(String(row.group))
  }

  /// A chart ends before a row that takes thirty times as long as its first one: the shorter bars
  /// would not be seen.
  private func charts(_ title: String, _ rows: [Measurement]) -> [String] {
    let sorted = rows.sorted { $0.minimum < $1.minimum }
    var parts: [[Measurement]] = []
    for row in sorted {
      if let first = parts.last?.first, row.minimum <= 30 * first.minimum {
        parts[parts.count - 1].append(row)
      } else {
        parts.append([row])
      }
    }
    return parts.enumerated().map { number, part in
      figure(number == 0 ? title : "\(title), longer", part)
    }
  }

  private func figure(_ title: String, _ rows: [Measurement]) -> String {
    let most = rows.map(\.minimum).max() ?? 1
    let bars = rows.map { row in
      let width = Self.text(max(0.5, row.minimum / most * 100))
      let ratio = ratio(row, over: row.baseline).map { " · \(Self.text($0)) × " } ?? ""
      return """
        <li\(isOurs(row) ? " class=\"ours\"" : "")>\
        <span class="what">\(Self.code(row.what))</span>\
        <span class="ns">\(Self.text(row.minimum)) ns</span>\
        <span class="bar" style="width: \(width)%"></span>\
        <span class="quiet"><code>\(Self.escaped(row.name))</code>\(ratio)\
        \(ratio.isEmpty ? "" : "<code>\(Self.escaped(row.baseline ?? ""))</code>")</span></li>
        """
    }
    return """
      <figure><figcaption>\(Self.escaped(title))</figcaption>
      <ul>
      \(bars.joined(separator: "\n"))
      </ul></figure>
      """
  }

  private static func escaped(_ text: String) -> String {
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

  /// Text whose every second part between backquotes is code.
  private static func code(_ text: String) -> String {
    escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { index, part in index % 2 == 1 ? "<code>\(part)</code>" : String(part) }.joined()
  }

  /// Text has a contrast of at least 4.5 to its background, in light and in dark mode.
  private static let style = """
    :root { color-scheme: light dark; --text: #1c1e21; --quiet: #5c6168; --back: #ffffff;
      --ours: #0b5cbd; --other: #8d939b; }
    @media screen and (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --quiet: #a0a7b1;
      --back: #14161a; --ours: #6cb0ff; --other: #7d848e; } }
    body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
    main { max-width: 50rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
    h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .5rem; }
    p { margin: 0 0 .5rem; }
    .quiet { color: var(--quiet); font-size: .85rem; overflow-wrap: anywhere; }
    figure { margin: 2rem 0 0; } figcaption { font-weight: 600; font-size: 1.1rem; }
    ul { list-style: none; margin: 0; padding: 0; }
    li { display: grid; grid-template-columns: 1fr auto; column-gap: 1rem; padding: .35rem 0;
      break-inside: avoid; }
    .ns { font-variant-numeric: tabular-nums; white-space: nowrap; }
    .bar, li .quiet { grid-column: 1 / -1; }
    .bar { height: .6rem; border-radius: 2px; background: var(--other); }
    .ours .bar { background: var(--ours); } .ours .ns { color: var(--ours); font-weight: 600; }
    @media print { .bar { print-color-adjust: exact; } }
    """
}
