// SPDX-License-Identifier: Apache-2.0
import Foundation
import Invocations

/// `forward bench`: measures the cost of calls on this machine, in comparison with closures.
enum BenchCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.isEmpty else { throw options.fault("bench takes no arguments") }
    let rows = try Runner().run(BenchRows.all() + functions())
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

  /// The rows of the README that call C, or are called by C. In Benchmarks a loop in C makes the calls.
  private static func functions() throws -> [Benchmark] {
    let functions = FunctionTable()
    // SAFETY: C declares `double pow(double, double)`.
    unsafe try functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
    let pow = try functions.function("pow", as: ((Double, Double) -> Double).self)
    let adding = try Callback { (one: Int64, other: Int64) in one &+ other }
    let add = unsafe adding.pointer.function(as: (@convention(c) (Int64, Int64) -> Int64).self)
    return [
      Benchmark("callback/two", "a `Callback` of 2 words", over: BenchRows.property) { count in
        withExtendedLifetime(adding) { for index in 0..<count { _ = add(Int64(index), 2) } }
      },
      Benchmark("pow/looked-up", "`pow`, looked up once", over: BenchRows.property) { count in
        for index in 0..<count { _ = try pow(1.5, Double(index & 15)) }
      },
    ]
  }
}
