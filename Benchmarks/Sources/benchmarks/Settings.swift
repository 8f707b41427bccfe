// SPDX-License-Identifier: Apache-2.0
import CallBenchmarks
import Foundation
import PeerC

/// The options of a run.
struct Settings {
  var json: String?
  var html: String?
  /// A recorded run as JSON, whose page is drawn without measuring anew.
  var recorded: String?
  var limits: String?
  var only: [String] = []
  var rounds = 120
  var hasCurves = true
  var countsInstructions = false
  /// The files with tables of figures.
  var pages: [String] = []

  /// Measures, writes the files, and returns whether the limits were met.
  func run() throws -> Bool {
    for line in Peers.missing { print("skipped: \(line)") }
    let limits = try limits.map { try Limits(file: $0) }
    // Measured first, because the comparison needs a process in which no thread has ended yet.
    let longRunning = try measuresLongRunning ? LongRunning.measure() : []
    let rows = try (CoreRows.all() + Peers.rows()).filter { row in
      row.name.hasPrefix("closure/") || isWanted(row.name)
    }
    var runner = Runner()
    runner.rounds = rounds
    runner.countAllocations = { peer_allocations() }
    runner.progress = { done, of in
      guard isatty(2) == 1 else { return }
      FileHandle.standardError.write(Data("\r\(done) of \(of) rounds ".utf8))
      if done == of { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }
    let measured = try runner.run(rows)
    let outside = OutsidePrograms.measure(
      isWanted, over: measured.first { $0.name == "text/strlen-15/by-hand" })
    for line in outside.skipped { print("skipped: \(line)") }
    var report = Report(
      environment: Report.thisMachine + Versions.all,
      rows: measured + outside.rows + longRunning.filter { isWanted($0.name) },
      skipped: Peers.missing + outside.skipped)
    let again = try limits.map { try Self.measureAgain(rows, runner, $0, report) } ?? [:]
    if hasCurves, only.isEmpty { report.curves = try Curves.all() }
    if countsInstructions || limits?.instructions.isEmpty == false {
      try Instructions.count(&report, limits?.instructions.map(\.row) ?? Instructions.usual)
    }
    let colors = isatty(1) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    print(report.table { text, color in colors ? Self.styled(text, color) : text })
    if let json {
      try report.json.write(toFile: json, atomically: true, encoding: .utf8)
      print("wrote \(json)")
    }
    if let html { try Self.write(report, into: html) }
    if !pages.isEmpty { try Readme.write(report, into: pages) }
    return limits?.check(report, measuredAgain: again) ?? true
  }

  /// Draws the page of a recorded run.
  static func draw(_ recorded: String, into html: String) throws {
    try write(try report(in: recorded), into: html)
  }

  /// Reads a recorded run.
  static func report(in recorded: String) throws -> Report {
    let data = try Data(contentsOf: URL(fileURLWithPath: recorded))
    return try JSONDecoder().decode(Report.self, from: data)
  }

  private static func write(_ report: Report, into html: String) throws {
    try report.page.write(toFile: html, atomically: true, encoding: .utf8)
    print("wrote \(html): open it in a browser")
  }

  /// Measures ratios above their limits again, and returns the best of each, with row and baseline
  /// from the same pass. A machine with other load is slow for seconds at a time; a row that really
  /// is too slow stays above its limit.
  private static func measureAgain(
    _ rows: [Benchmark], _ runner: Runner, _ limits: Limits, _ report: Report
  ) throws -> [String: Double] {
    var best: [String: Double] = [:]
    for _ in 0..<6 {
      let doubtful = limits.ratios.filter {
        (best[$0.what] ?? $0.value(in: report) ?? 0) > $0.limit
      }
      if doubtful.isEmpty { break }
      Thread.sleep(forTimeInterval: 3)
      for limit in doubtful {
        let pair = rows.filter { $0.name == limit.row || $0.name == limit.over }
        let pass = Report(environment: [], rows: try runner.run(pair))
        guard let value = limit.value(in: pass) else { continue }
        best[limit.what] = min(value, best[limit.what] ?? .infinity)
      }
    }
    return best
  }

  /// Whether `--only` selects a row.
  private func isWanted(_ name: String) -> Bool {
    only.isEmpty || only.contains { name.hasPrefix($0) }
  }

  /// Whether `--only` may select a row of `LongRunning`; these rows are measured together.
  private var measuresLongRunning: Bool {
    only.isEmpty
      || LongRunning.folders.contains { folder in
        only.contains { folder.hasPrefix($0) || $0.hasPrefix(folder) }
      }
  }

  private static func styled(_ text: String, _ color: Report.TableColor) -> String {
    let code =
      switch color {
      case .name: "0"
      case .faster: "32"
      case .slower: "33"
      }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}

/// The versions of the compared libraries, as far as Debian's packages have them.
enum Versions {
  static var all: [(name: String, value: String)] {
    var found: [(name: String, value: String)] = []
    if let line = output("swift", ["--version"])?.split(separator: "\n").first {
      let words = line.split(separator: " ")
      if let index = words.firstIndex(of: "version"), index + 1 < words.count {
        found.append(("Swift", String(words[index + 1])))
      }
    }
    for (name, package) in [
      ("libffi", "libffi-dev"), ("GNUstep base", "libgnustep-base-dev"),
      ("GLib", "libglib2.0-dev"), ("Boost", "libboost-dev"), ("Qt", "qtbase5-dev"),
      ("SQLite", "libsqlite3-dev"), ("Python cffi", "python3-cffi"), ("Ruby ffi", "ruby-ffi"),
    ] {
      // The package has a line for each architecture that it is installed for.
      let versions = output("dpkg-query", ["-W", "-f", "${Version}\n", package])
      if let version = versions?.split(separator: "\n").first {
        found.append((name, String(version)))
      }
    }
    return found
  }

  /// The output of a command; nil if the command is missing or fails.
  static func output(_ command: String, _ arguments: [String]) -> String? {
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

/// Counts instructions with valgrind: the number is the same in every run, whatever the load.
enum Instructions {
  /// The rows that are counted if no file of limits names others.
  static let usual = [
    "invoke/object/prepared", "invoke/one/set1", "scoped/three/create-set3",
    "send/message/c-function", "send/message/closure", "send/recorded/invoke",
    "multicast/strong/16",
    "multicast/weak/16", "multicast/closures/16", "door/forward/1", "callback/object/call",
  ]

  static func count(_ report: inout Report, _ rows: [String]) throws {
    let copy = NSTemporaryDirectory() + "benchmarks-stripped-\(getpid())"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    // Debian's valgrind cannot read the debug information of this compiler.
    guard Versions.output("strip", ["--strip-debug", "-o", copy, own]) != nil,
      Versions.output("valgrind", ["--version"]) != nil
    else {
      report.skipped.append("instructions are not counted: valgrind or strip is not installed")
      print("skipped: \(report.skipped.last ?? "")")
      return
    }
    for name in rows {
      guard let index = report.rows.firstIndex(where: { $0.name == name }),
        let few = total(copy, name, 2000), let many = total(copy, name, 102_000)
      else { continue }
      // The start of two processes differs by some 100,000 instructions, so the count must be large
      // enough to hide that.
      report.rows[index].instructions = Double(many - few) / 100_000
    }
  }

  private static func total(_ program: String, _ row: String, _ count: Int) -> Int? {
    let text = Versions.output(
      "valgrind",
      [
        "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "--repeat", row, "\(count)",
      ])
    guard let line = text?.split(separator: "\n").first(where: { $0.contains("refs:") }) else {
      return nil
    }
    return Int(line.drop { $0 != ":" }.dropFirst().filter(\.isNumber))
  }
}
