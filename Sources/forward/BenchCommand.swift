// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `forward bench`: measures the cost of calls on this machine, in comparison with closures.
enum BenchCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.isEmpty else { throw options.fault("bench takes no arguments") }
    var runner = Runner()
    if let text = options.values["--rounds"]?.last {
      guard let rounds = Int(text), (1...10_000).contains(rounds) else {
        throw options.fault("--rounds needs a number from 1 to 10000")
      }
      runner.rounds = rounds
    }
    let report = try measure(runner)
    Terminal.out(report.table)
    guard let path = options.values["--json"]?.last else { return .ok }
    guard write(report.json, to: path) else {
      Terminal.error("forward: '\(path)' cannot be written")
      return .failed
    }
    Terminal.out("wrote \(path)")
    return .ok
  }

  static func measure(_ runner: Runner) throws -> Report {
    var skipped = ["Other rows, and other libraries: 'make bench' measures them"]
    #if !Macros
      skipped.append("Proxies: build with the trait 'Macros' to measure them")
    #endif
    return Report(
      environment: Report.thisMachine, rows: try runner.run(BenchRows.all()), skipped: skipped)
  }

  private static func write(_ text: String, to path: String) -> Bool {
    guard let file = unsafe fopen(path, "w") else { return false }
    let bytes = Array(text.utf8)
    let count = unsafe fwrite(bytes, 1, bytes.count, file)
    return unsafe fclose(file) == 0 && count == bytes.count
  }
}
