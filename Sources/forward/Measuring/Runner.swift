// SPDX-License-Identifier: Apache-2.0
/// Measures rows in comparison: all in one process, in rounds of changing order, so that other load
/// on the machine affects all rows alike.
struct Runner {
  /// The number of rounds, and the time that each row runs in a round, in nanoseconds.
  var rounds = 120
  var roundTime = 60_000.0

  /// Measures the rows and returns the results in the order of the rows.
  func run(_ rows: [Benchmark]) throws -> [Measurement] {
    let counts = try rows.map(iterations)
    var times = [[Double]](repeating: [], count: rows.count)
    for round in 0..<rounds {
      for step in rows.indices {
        let index = (step + round * 7) % rows.count
        let calls = Double(counts[index] * rows[index].calls)
        times[index].append(try rows[index].time(counts[index]) / calls)
      }
    }
    return rows.indices.map { index in
      let sorted = times[index].sorted()
      return Measurement(
        name: rows[index].name, what: rows[index].what, baseline: rows[index].baseline,
        minimum: sorted[0], median: sorted[sorted.count / 2])
    }
  }

  /// The number of repetitions of a row in a round.
  private func iterations(_ row: Benchmark) throws -> Int {
    // The first repetitions find methods and fill caches.
    _ = try row.time(10)
    var count = 1
    while true {
      // The best of three, as a row that other load interrupts would be repeated too seldom.
      let times = try (0..<3).map { _ in try row.time(count) }
      let time = times.min() ?? 0
      if time > roundTime / 2 || count >= 1 << 22 {
        return max(1, Int(Double(count) * roundTime / time))
      }
      count *= 2
    }
  }
}
