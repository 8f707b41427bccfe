// SPDX-License-Identifier: Apache-2.0
import CallBenchmarks
import Foundation

/// The limits of a run: the project's own performance goals, and the tolerance around the present
/// state.
///
/// A *gate* is the goal. A *limit* fails the check: it is the gate and a tolerance if the gate is
/// met. If the gate is missed, it is the present value and a tolerance, and `missed` gives the
/// reason.
struct Limits: Decodable {
  struct Ratio: Decodable {
    var what: String
    var row: String
    var over: String
    /// The highest allowed ratio of the row's time to the other row's time.
    var gate: Double
    var limit: Double
    var missed: String?

    /// The ratio in a report; nil if one of the two rows was not measured.
    func value(in report: Report) -> Double? {
      report.row(row).flatMap { row in report.row(over).map { row.minimum / $0.minimum } }
    }
  }

  struct Amount: Decodable {
    var row: String
    var gate: Double
    var limit: Double
    var missed: String?
  }

  var ratios: [Ratio]
  var allocations: [Amount]
  var instructions: [Amount]

  init(file: String) throws {
    self = try JSONDecoder().decode(
      Limits.self, from: try Data(contentsOf: URL(fileURLWithPath: file)))
  }

  /// Prints each limit with its measured value. Returns false if a limit was exceeded.
  func check(_ report: Report, measuredAgain: [String: Double]) -> Bool {
    var failures = 0
    var unmeasured = 0
    func line(
      _ what: String, _ value: Double?, _ gate: Double, _ limit: Double, _ missed: String?
    ) {
      guard let value else {
        unmeasured += 1
        print("  ?  \(what): not measured")
        return
      }
      let isFailure = value > limit
      failures += isFailure ? 1 : 0
      // A small ratio is easier to read as a fraction.
      func told(_ value: Double) -> String {
        gate > 0 && gate < 0.25 ? "1/" + Report.text(1 / value) : Report.text(value)
      }
      let mark = isFailure ? "FAIL" : value <= gate ? "  ok" : "miss"
      print(
        "\(mark) \(what): \(told(value)), gate \(told(gate))"
          + (isFailure ? ", limit \(told(limit))" : "")
          + (value > gate ? missed.map { " (\($0))" } ?? "" : ""))
    }
    print("\nratios")
    for ratio in ratios {
      line(
        "\(ratio.what): \(ratio.row) over \(ratio.over)",
        measuredAgain[ratio.what] ?? ratio.value(in: report), ratio.gate, ratio.limit, ratio.missed)
    }
    print("allocations")
    for amount in allocations {
      line(
        amount.row, report.row(amount.row)?.allocations, amount.gate, amount.limit, amount.missed)
    }
    print("instructions")
    for amount in instructions {
      line(
        amount.row, report.row(amount.row)?.instructions, amount.gate, amount.limit, amount.missed)
    }
    print(
      failures == 0
        ? "\nEvery limit was kept\(unmeasured == 0 ? "" : "; \(unmeasured) could not be measured")."
        : "\n\(failures) limits were passed.")
    return failures == 0
  }
}
