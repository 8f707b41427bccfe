// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The limits of a run, from a file.
struct Limits {
  /// The most that a row may take.
  struct Limit: Decodable {
    /// What is limited.
    enum Measure: String, Decodable {
      /// The time over that of the row `over`.
      case ratio
      /// The time, or how much longer it is than that of `over`.
      case nanoseconds
      case instructions
    }

    let row: String
    let over: String?
    let measure: Measure
    let limit: Double
    /// What a later version wants to reach. It does not fail the check.
    let wish: Double?

    var words: String {
      switch measure {
      case .ratio: "\(row) over \(over ?? "nothing")"
      case .nanoseconds: "\(row)\(over.map { " beyond \($0)" } ?? ""), ns"
      case .instructions: "\(row), instructions"
      }
    }

    /// The value in a report; nil if one of the rows was not measured.
    func value(in report: Report) -> Double? {
      guard let row = report.row(row) else { return nil }
      switch measure {
      case .ratio: return report.ratio(row, over: over)
      case .nanoseconds:
        guard let over else { return row.minimum }
        return report.row(over).map { row.minimum - $0.minimum }
      case .instructions: return row.instructions
      }
    }
  }

  private let all: [Limit]

  init(file: String) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: file))
    all = try JSONDecoder().decode([Limit].self, from: data)
  }

  /// Measures the times that passed their limits again, up to six times, and returns the best of
  /// each. A machine with other load is slow for seconds at a time; a row that really is too slow
  /// stays above its limit.
  func measureAgain(
    _ rows: [Benchmark], _ runner: Runner, _ report: Report
  ) throws -> [String: Double] {
    var best: [String: Double] = [:]
    for _ in 0..<6 {
      let doubtful = all.filter { limit in
        limit.measure != .instructions
          && (best[limit.words] ?? limit.value(in: report) ?? 0) > limit.limit
      }
      if doubtful.isEmpty { break }
      Thread.sleep(forTimeInterval: 2)
      for limit in doubtful {
        let pair = rows.filter { $0.name == limit.row || $0.name == limit.over }
        let pass = Report(environment: [], rows: try runner.run(pair), skipped: [])
        guard let value = limit.value(in: pass) else { continue }
        best[limit.words] = min(value, best[limit.words] ?? .infinity)
      }
    }
    return best
  }

  /// Prints each limit with its measured value. Returns false if a limit was passed.
  func check(_ report: Report, measuredAgain: [String: Double]) -> Bool {
    var passed = 0
    print("")
    for limit in all {
      guard let value = measuredAgain[limit.words] ?? limit.value(in: report) else {
        print("   ? \(limit.words): not measured")
        continue
      }
      let isPast = value > limit.limit
      passed += isPast ? 1 : 0
      let wish = limit.wish.map { $0 < value ? ", wished \(Report.text($0))" : "" } ?? ""
      print(
        "\(isPast ? "FAIL" : "  ok") \(limit.words): \(Report.text(value)), "
          + "limit \(Report.text(limit.limit))\(wish)")
    }
    print(passed == 0 ? "\nEvery limit was kept." : "\n\(passed) limits were passed.")
    return passed == 0
  }
}
