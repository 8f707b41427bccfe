// SPDX-License-Identifier: Apache-2.0
/// The results of a run, and the machine that it ran on.
public struct Report: Sendable {
  /// Names and values that describe the run: the machine, versions.
  public var environment: [(name: String, value: String)]
  /// The rows, in order.
  public var rows: [Measurement]
  /// Charts over a growing number.
  public var curves: [Curve]
  /// Lines about rows that were left out, with the reason.
  public var skipped: [String]

  /// Makes a report from results.
  public init(
    environment: [(name: String, value: String)], rows: [Measurement], curves: [Curve] = [],
    skipped: [String] = []
  ) {
    self.environment = environment
    self.rows = rows
    self.curves = curves
    self.skipped = skipped
  }

  /// Finds a row by its name.
  public func row(_ name: String) -> Measurement? { rows.first { $0.name == name } }

  /// A number with its significant digits.
  public static func text(_ value: Double) -> String {
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
}

extension Report {
  /// The report as JSON text.
  public var json: String {
    func quoted(_ text: String) -> String {
      var out = "\""
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": out += "\\\""
        case "\\": out += "\\\\"
        case _ where scalar.value < 0x20: out += " "
        default: out.unicodeScalars.append(scalar)
        }
      }
      return out + "\""
    }
    func number(_ value: Double?) -> String {
      guard let value, value.isFinite else { return "null" }
      return "\((value * 1_000_000).rounded() / 1_000_000)"
    }
    let environment = environment.map { "    \(quoted($0.name)): \(quoted($0.value))" }
    let rows = rows.map { row in
      "    {\"name\": \(quoted(row.name)), \"ns_min\": \(number(row.minimum)), "
        + "\"ns_median\": \(number(row.median)), "
        + "\"baseline\": \(row.baseline.map(quoted) ?? "null"), \"ratio\": \(number(row.ratio)), "
        + "\"allocations\": \(number(row.allocations)), "
        + "\"instructions\": \(number(row.instructions))}"
    }
    let curves = curves.map { curve in
      let lines = curve.lines.map { line in
        let points = line.points.map { "[\(number($0.x)), \(number($0.y))]" }
        return "      {\"name\": \(quoted(line.name)), \"points\": "
          + "[\(points.joined(separator: ", "))]}"
      }
      return "    {\"title\": \(quoted(curve.title)), \"x\": \(quoted(curve.xLabel)), "
        + "\"y\": \(quoted(curve.yLabel)), \"lines\": [\n"
        + lines.joined(separator: ",\n") + "\n    ]}"
    }
    return """
      {
        "environment": {
      \(environment.joined(separator: ",\n"))
        },
        "rows": [
      \(rows.joined(separator: ",\n"))
        ],
        "curves": [
      \(curves.joined(separator: ",\n"))
        ],
        "skipped": [\(skipped.map(quoted).joined(separator: ", "))]
      }

      """
  }
}
