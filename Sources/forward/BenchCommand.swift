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
      let isWritten = unsafe fopen(path, "w").map {
        let isPut = unsafe fputs(report.page, $0) >= 0
        return unsafe fclose($0) == 0 && isPut
      }
      if isWritten != true {
        let reason = unsafe String(cString: strerror(errno))
        throw Failure(message: "'\(path)' cannot be written: \(reason)")
      }
    }
    return .ok
  }
}
