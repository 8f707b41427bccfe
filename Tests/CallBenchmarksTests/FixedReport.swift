// SPDX-License-Identifier: Apache-2.0
@testable import TestedBenchmarks

extension Report {
  /// A small artificial report: each way of the opening charts has a time of its own, and the
  /// curves are hard to draw.
  static func fixed(without libraries: [String] = []) -> Report {
    var rows: [Measurement] = []
    for comparison in Comparison.opening {
      let ways = comparison.parts.flatMap(\.ways)
      for (index, way) in ways.enumerated() where !rows.contains(where: { $0.name == way.row }) {
        if let library = way.library, libraries.contains(library) { continue }
        // Times in scattered order, from 4 to some 2,000 ns, and two that are nearly the same.
        let time = 4 + Double((index * 11 + 3) % ways.count) * 137.5 + (index == 1 ? 0.25 : 0)
        rows.append(
          Measurement(
            name: way.row, baseline: way.row == "closure/call/stored" ? nil : "closure/call/stored",
            minimum: time, median: time * 1.5, ratio: time / 7, allocations: Double(index % 3),
            instructions: index == 0 ? 241.96 : nil))
      }
    }
    return Report(
      environment: [
        ("processor", "a <processor> & 2 cores"), ("system", "none"), ("libffi", "3.4"),
      ],
      rows: rows, curves: hardCurves,
      skipped: libraries.map { "\($0) is not installed, so its rows are left out" })
  }

  static var hardCurves: [Curve] {
    let numbers = [
      1.0, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000,
    ]
    var million = Curve("To a million, and over eight decades", x: "targets", y: "ns for each")
    million.lines = [
      ("a line that grows as fast as the number of targets does", numbers.map { ($0, $0 * 70) }),
      ("flat", numbers.map { ($0, 37) }), ("falling", numbers.map { ($0, 2 + 30 / $0) }),
    ]
    var threads = Curve("Few numbers", x: "threads", y: "million sends a second")
    threads.lines = [("strong", [(1, 15.7), (2, 37.6)]), ("weak", [(1, 14.9), (2, 18.9)])]
    var lanes = Curve("Twice as many each time, ten lines", x: "lanes", y: "ns for a message")
    lanes.lines = (0..<10).map { index in
      ("line \(index)", [1, 2, 4, 8, 16, 32, 64].map { ($0, Double(100 + index * 40)) })
    }
    var one = Curve("One point, and one that was not measured", x: "targets", y: "ns")
    one.lines = [("one", [(1000, 5), (2000, .nan)]), ("none", [])]
    var nothing = Curve("Nothing, also", x: "held <targets>", y: "ns & more")
    nothing.lines = [("from zero", [(0, 0), (1, 0.02), (8, 0.03)])]
    return [million, threads, lanes, one, nothing]
  }
}
