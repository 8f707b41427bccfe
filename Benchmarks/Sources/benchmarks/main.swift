// SPDX-License-Identifier: Apache-2.0
import Foundation

let help = """
  usage: benchmarks [--rounds N] [--only PREFIX]... [--instructions] [--json FILE] [--html FILE]
                    [--readme FILE]... [--check LIMITS]
         benchmarks --repeat ROW COUNT

  Measures calls through swift-forwarding against what a program would write by hand, and against
  libffi, NotificationCenter, and GNUstep, libffcall, LuaJIT and Python if they are installed. --only keeps rows whose names begin
  so, and what they are compared with. --instructions counts instructions with valgrind. --json and
  --html write the run as data and as a page with charts; --readme writes the tables between the
  markers of a page. --check compares with a file of limits, and fails past them. --repeat does one
  thing so often and nothing else, for profilers.
  """

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("benchmarks: \(message)\n".utf8))
  exit(64)
}

/// All rows, the two closures first.
func allRows() throws -> [Benchmark] {
  try BenchRows.all() + DelegateRows.all() + CallRows.all() + WaitingRows.all() + FunctionRows.all()
    + ClosureRows.all()
}

var run = Run()
var arguments = Array(CommandLine.arguments.dropFirst())[...]
while let argument = arguments.popFirst() {
  func value() -> String {
    guard let value = arguments.popFirst() else { fail("\(argument) needs a value") }
    return value
  }
  switch argument {
  case "--json": run.json = value()
  case "--html": run.html = value()
  case "--only": run.only.append(value())
  case "--rounds":
    guard let rounds = Int(value()), rounds > 0 else { fail("--rounds needs a number above zero") }
    run.runner.rounds = rounds
  case "--instructions": run.countsInstructions = true
  case "--readme": run.pages.append(value())
  case "--check": run.limits = value()
  case "--repeat":
    let name = value()
    guard let count = Int(value()), count > 0 else { fail("--repeat needs a row and a count") }
    guard let row = try allRows().first(where: { $0.name == name }) else {
      fail("there is no row '\(name)'")
    }
    _ = try row.time(count)
    exit(0)
  case "--help", "-h":
    print(help)
    exit(0)
  default: fail("there is no option '\(argument)'; see --help")
  }
}
exit(try run.measure() ? 0 : 1)
