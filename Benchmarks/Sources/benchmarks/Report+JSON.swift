// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Report {
  /// The report as JSON text.
  var json: String {
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
        + "\"baseline\": \(row.baseline.map(quoted) ?? "null"), "
        + "\"ratio\": \(number(ratio(row, over: row.baseline))), "
        + "\"instructions\": \(number(row.instructions)), \"what\": \(quoted(row.what))}"
    }
    return """
      {
        "environment": {
      \(environment.joined(separator: ",\n"))
        },
        "rows": [
      \(rows.joined(separator: ",\n"))
        ],
        "skipped": [\(skipped.map(quoted).joined(separator: ", "))]
      }

      """
  }
}
