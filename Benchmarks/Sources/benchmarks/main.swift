import CallBenchmarks

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "--repeat", let count = Int(arguments[3]) {
  for row in try CoreRows.all() where row.name == arguments[2] { try row.body(count) }
} else {
  let rows = try CoreRows.all().filter { row in
    arguments.count < 2 || arguments.dropFirst().contains { row.name.hasPrefix($0) } || row.name.hasPrefix("closure")
  }
  let report = Report(environment: [], rows: try Runner().run(rows))
  print(report.table { text, _ in text })
}
