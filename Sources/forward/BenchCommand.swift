// SPDX-License-Identifier: Apache-2.0
/// `forward bench`: measures the cost of calls on this machine, in comparison with closures.
enum BenchCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.isEmpty else { throw options.fault("bench takes no arguments") }
    let rows = try Runner().run(BenchRows.all())
    Terminal.out(Report(environment: [], rows: rows, skipped: []).table)
    return .ok
  }
}
