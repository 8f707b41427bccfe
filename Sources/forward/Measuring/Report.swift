// SPDX-License-Identifier: Apache-2.0
/// The results of a run, and the machine that it ran on.
struct Report: Sendable {
  /// Names and values that describe the run: the machine, versions.
  var environment: [(name: String, value: String)]
  /// The rows, in order.
  var rows: [Measurement]
  /// Lines about rows that were left out, with the reason.
  var skipped: [String]

  /// Finds a row by its name.
  func row(_ name: String) -> Measurement? { rows.first { $0.name == name } }

  /// The time of a row over the time of another one; nil if one of them was not measured.
  func ratio(_ row: Measurement, over name: String?) -> Double? {
    guard let name, name != row.name, let other = self.row(name) else { return nil }
    return row.minimum / other.minimum
  }

  /// The comparisons of a row that every table shows, as text: with a closure in a local variable,
  /// with one in a property of a class, and with the row's own baseline.
  func ratios(_ row: Measurement) -> [String] {
    [BenchRows.local, BenchRows.property, row.baseline].map { other in
      ratio(row, over: other).map(Self.text) ?? ""
    }
  }

  /// A number with its significant digits.
  static func text(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "–" }
    if value >= 1000 { return grouped(Int(value.rounded())) }
    let digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value * scale).rounded())
    guard digits > 0 else { return "\(scaled)" }
    let fraction = String(scaled % Int(scale))
    let zeros = String(repeating: "0", count: digits - fraction.count)
    return "\(scaled / Int(scale)).\(zeros)\(fraction)"
  }

  private static func grouped(_ value: Int) -> String {
    var digits = Array(String(value))
    var index = digits.count - 3
    while index > 0 {
      digits.insert(",", at: index)
      index -= 3
    }
    return String(digits)
  }

  /// The rows as a table for a terminal.
  var table: String {
    let heads = ["row", "ns", "/local", "/property", "/by hand", "what"]
    let cells = rows.map { [$0.name, Self.text($0.minimum)] + ratios($0) + [$0.what] }
    let widths = heads.indices.map { column in
      ([heads] + cells).map { $0[column].count }.max() ?? 0
    }
    let lines = ([heads] + cells).map { line in
      line.indices.map { column in
        let space = String(repeating: " ", count: widths[column] - line[column].count)
        if column == heads.count - 1 { return line[column] }
        return column == 0 ? line[column] + space : space + line[column]
      }.joined(separator: "  ")
    }
    return lines.joined(separator: "\n")
  }
}
