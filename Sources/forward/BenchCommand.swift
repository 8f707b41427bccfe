// SPDX-License-Identifier: Apache-2.0
import Forwarding

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
    Terminal.out(table(report))
    guard let path = options.values["--json"]?.last else { return .ok }
    guard write(report.json, to: path) else {
      Terminal.error("forward: '\(path)' cannot be written")
      return .failed
    }
    Terminal.out("wrote \(path)")
    return .ok
  }

  static func measure(_ runner: Runner) throws -> Report {
    var skipped = [
      "Other libraries are left out: 'make bench' measures those that are installed"
    ]
    #if !Macros
      skipped.append("Faces are left out: build with '--traits Macros' to measure them")
    #endif
    return Report(
      environment: Report.thisMachine, rows: try runner.run(BenchRows.all()), skipped: skipped)
  }

  static func table(_ report: Report) -> String {
    report.table { text, color in
      switch color {
      case .name: text
      case .faster: Terminal.styled(text, .green)
      case .slower: Terminal.styled(text, .yellow)
      }
    }
  }

  private static func write(_ text: String, to path: String) -> Bool {
    guard let file = unsafe fopen(path, "w") else { return false }
    let bytes = Array(text.utf8)
    let count = unsafe fwrite(bytes, 1, bytes.count, file)
    return unsafe fclose(file) == 0 && count == bytes.count
  }
}
