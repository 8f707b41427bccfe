// SPDX-License-Identifier: Apache-2.0
import Foundation
import Invocations

/// A run, with its options.
struct Run {
  var runner = Runner()
  var only: [String] = []
  var countsInstructions = false
  var json: String?
  var html: String?
  /// The pages with tables of figures.
  var pages: [String] = []
  var limits: String?

  init() { runner = Runner(rounds: 400, roundTime: 100_000) }

  /// Measures, writes the files, and returns whether the limits were kept.
  func measure() throws -> Bool {
    let limits = try limits.map { try Limits(file: $0) }
    let all = try allRows()
    var skipped: [String] = []
    let rows = try all.filter { try isWanted($0.name, all) && Self.runs($0, &skipped) }
    var report = Report(
      environment: Report.thisMachine + Command.versions, rows: try runner.run(rows),
      skipped: skipped)
    #if !HAS_GNUSTEP
      report.skipped.append("GNUstep is not installed (Debian: gobjc libgnustep-base-dev)")
    #endif
    let again = try limits?.measureAgain(rows, runner, report) ?? [:]
    if countsInstructions || limits != nil { try Command.countInstructions(&report) }
    print(report.table)
    for line in report.skipped { print("left out: \(line)") }
    if let json { try Self.write(report.json, to: json) }
    if let html { try Self.write(report.page, to: html) }
    for page in pages { try report.writeTables(into: page) }
    return limits?.check(report, measuredAgain: again) ?? true
  }

  /// Whether `--only` selects a row, or one that is compared with it.
  private func isWanted(_ name: String, _ rows: [Benchmark]) -> Bool {
    let wanted = rows.filter { row in only.contains { row.name.hasPrefix($0) } }
    let names = wanted.map(\.name) + wanted.compactMap(\.baseline)
    return only.isEmpty || names.contains(name) || name.hasPrefix("closure/")
  }

  /// Whether a row has what it needs.
  private static func runs(_ row: Benchmark, _ skipped: inout [String]) throws -> Bool {
    do { return try row.time(1) >= 0 } catch InvocationError.libraryNotFound(let name, let reason) {
      skipped.append("\(name) is not installed (\(reason))")
      return false
    }
  }

  private static func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    print("wrote \(path)")
  }
}

/// What other programs know: versions, and numbers of instructions.
enum Command {
  /// The versions of the compiler and of the compared libraries, as far as Debian's packages have
  /// them.
  static var versions: [(name: String, value: String)] {
    var found: [(name: String, value: String)] = []
    if let line = output("swift", ["--version"])?.split(separator: "\n").first {
      let words = line.split(separator: " ")
      if let index = words.firstIndex(of: "version"), index + 1 < words.count {
        found.append(("Swift", String(words[index + 1])))
      }
    }
    for (name, package) in [
      ("libffi", "libffi-dev"), ("GNUstep base", "libgnustep-base-dev"),
      ("libffcall", "libffcall-dev"), ("LuaJIT", "libluajit-5.1-2"), ("Python", "libpython3-dev"),
      ("cffi", "python3-cffi"),
    ] {
      // The package has a line for each architecture that it is installed for.
      let versions = output("dpkg-query", ["-W", "-f", "${Version}\n", package])
      if let version = versions?.split(separator: "\n").first {
        found.append((name, String(version)))
      }
    }
    return found
  }

  /// Counts the instructions of the rows whose limit is in instructions: the number is the same in
  /// every run, whatever the load.
  static func countInstructions(_ report: inout Report) throws {
    let copy = NSTemporaryDirectory() + "benchmarks-stripped-\(getpid())"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    // Debian's valgrind cannot read the debug information of this compiler.
    guard output("strip", ["--strip-debug", "-o", copy, own]) != nil,
      output("valgrind", ["--version"]) != nil
    else {
      report.skipped.append("instructions are not counted: valgrind or strip is not installed")
      return
    }
    for name in ["message/one", "invoke/recorded", "spy/call"] {
      guard let index = report.rows.firstIndex(where: { $0.name == name }),
        let few = instructions(copy, name, 2000), let many = instructions(copy, name, 102_000)
      else { continue }
      // The start of two processes differs by some 100,000 instructions, so the count must be large
      // enough to hide that.
      report.rows[index].instructions = Double(many - few) / 100_000
    }
  }

  private static func instructions(_ program: String, _ row: String, _ count: Int) -> Int? {
    let text = output(
      "valgrind",
      [
        "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "--repeat", row, "\(count)",
      ])
    guard let line = text?.split(separator: "\n").first(where: { $0.contains("refs:") }) else {
      return nil
    }
    return Int(line.drop { $0 != ":" }.dropFirst().filter(\.isNumber))
  }

  /// The output of a command; nil if the command is missing or fails.
  private static func output(_ command: String, _ arguments: [String]) -> String? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [command] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    guard (try? process.run()) != nil else { return nil }
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
  }
}
