// SPDX-License-Identifier: Apache-2.0
extension Report {
  /// The rows as a table, with a bar for each ratio to the baseline.
  ///
  /// - Parameter color: styles a piece of text; returns it unchanged if there are no colors.
  public func table(color: (String, TableColor) -> String) -> String {
    let nameWidth = rows.map(\.name.count).max() ?? 0
    var lines: [String] = []
    var group = ""
    // The rows of one group are together, in the order of its first row.
    var order: [String] = []
    for row in rows where !order.contains(row.group) { order.append(row.group) }
    for row in order.flatMap({ group in rows.filter { $0.group == group } }) {
      let own = row.group
      if own != group, !group.isEmpty { lines.append("") }
      group = own
      let padding = String(repeating: " ", count: nameWidth - row.name.count)
      var line = color(row.name, .name) + padding + "  " + Self.right(Self.text(row.minimum), 9)
      line += " ns  " + Self.right(row.ratio.map { Self.text($0) + "x" } ?? "", 8)
      if let allocations = row.allocations {
        line += "  " + Self.right(Self.text(allocations), 6) + " alloc"
      }
      if let ratio = row.ratio {
        line += "  " + color(Self.bar(ratio), ratio <= 1 ? .faster : .slower)
      }
      while line.last == " " { line.removeLast() }
      lines.append(line)
    }
    return lines.joined(separator: "\n")
  }

  /// The parts of a table that have colors.
  public enum TableColor: Sendable {
    case name, faster, slower
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// The baseline is ten cells; a bar ends at forty.
  static func bar(_ ratio: Double) -> String {
    let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    let cells = min(ratio * 10, 40)
    let whole = Int(cells)
    let rest = Int((cells - Double(whole)) * 8)
    let bar = String(repeating: "█", count: whole) + eighths[rest]
    return bar.isEmpty ? "▏" : ratio * 10 > 40 ? bar + "…" : bar
  }
}
