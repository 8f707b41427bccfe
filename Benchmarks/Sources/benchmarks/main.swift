// SPDX-License-Identifier: Apache-2.0
import CallBenchmarks
import Foundation
import PeerC

let help = """
  usage: benchmarks [--json FILE] [--html FILE] [--only PREFIX]... [--rounds N] [--no-curves]
                    [--instructions] [--readme FILE] [--check LIMITS]
         benchmarks --page-from FILE --html FILE
         benchmarks --growth-from FILE
         benchmarks --repeat ROW COUNT

  Measures calls through swift-forwarding against closures and against what else is installed, all
  in this process. --only keeps rows whose names begin so, and the baselines. --instructions counts
  instructions with valgrind. --readme writes the tables between the markers of a page. --check compares with a file of limits, and fails past them.
  --page-from measures nothing, and draws the page of a run that --json kept; --growth-from prints what it means for
  more hosts than one machine has. --repeat does one thing so often and nothing else, for profilers.
  """

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("benchmarks: \(message)\n".utf8))
  exit(64)
}

var settings = Settings()
var arguments = Array(CommandLine.arguments.dropFirst())[...]
while let argument = arguments.popFirst() {
  func value() -> String {
    guard let value = arguments.popFirst() else { fail("\(argument) needs a value") }
    return value
  }
  switch argument {
  case "--json": settings.json = value()
  case "--html": settings.html = value()
  case "--only": settings.only.append(value())
  case "--page-from": settings.recorded = value()
  case "--rounds": settings.rounds = Int(value()) ?? settings.rounds
  case "--no-curves": settings.hasCurves = false
  case "--instructions": settings.countsInstructions = true
  case "--readme": settings.pages.append(value())
  case "--check": settings.limits = value()
  case "--growth-from":
    guard let growth = RemoteGrowth(try Settings.report(in: value())) else {
      fail(
        "the run has no calls over NATS: 'Scripts/setup.sh bench' installs it, 'make bench-record' runs it"
      )
    }
    print(growth.table)
    exit(0)
  case "--repeat":
    let name = value()
    guard let count = Int(value()) else { fail("--repeat needs a row and a count") }
    guard let row = try (CoreRows.all() + Peers.rows()).first(where: { $0.name == name }) else {
      fail("there is no row '\(name)'")
    }
    try row.body(count)
    exit(0)
  case "--help", "-h":
    print(help)
    exit(0)
  default: fail("there is no option '\(argument)'; see --help")
  }
}
if let recorded = settings.recorded {
  guard let html = settings.html else { fail("--page-from needs --html FILE as well") }
  try Settings.draw(recorded, into: html)
  exit(0)
}
exit(try settings.run() ? 0 : 1)
