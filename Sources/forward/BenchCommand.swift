// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `forward bench`: measures the cost of calls on this machine, in comparison with closures.
enum BenchCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.isEmpty else { throw options.fault("bench takes no arguments") }
    let rows = try Runner().run(BenchRows.all())
    let report = Report(environment: Report.thisMachine, rows: rows, skipped: [])
    Terminal.out(report.table)
    for path in options.values["--html"] ?? [] {
      try report.page.write(toFile: path, atomically: true, encoding: .utf8)
    }
    return .ok
  }
}
