// SPDX-License-Identifier: Apache-2.0
/// One row of a comparison: an operation that is repeated.
///
/// A row repeats its operation by itself, so that the harness costs nothing for each repetition.
struct Benchmark {
  /// `group/which`: the same name in `forward bench`, on the pages, in the file of limits.
  let name: String
  /// What is done, in a few words.
  let what: String
  /// The row that does the same without this package, or with another library.
  let baseline: String?
  /// How many calls one repetition makes.
  let calls: Int
  /// Repeats the operation, and returns the nanoseconds that this took.
  let time: (Int) throws -> Double
}

extension Benchmark {
  /// Describes a row whose `body` repeats the operation. The figure is for one of its `calls`.
  init(
    _ name: String, _ what: String, over baseline: String? = nil, calls: Int = 1,
    _ body: @escaping (Int) throws -> Void
  ) {
    self.init(name: name, what: what, baseline: baseline, calls: calls) { count in
      let start = SuspendingClock.now
      try body(count)
      return start.nanoseconds
    }
  }

  /// A row that measures itself, because it prepares something that does not count.
  static func timed(
    _ name: String, _ what: String, over baseline: String? = nil,
    _ time: @escaping (Int) throws -> Double
  ) -> Benchmark {
    Benchmark(name: name, what: what, baseline: baseline, calls: 1, time: time)
  }
}

extension SuspendingClock.Instant {
  /// The nanoseconds since this instant.
  var nanoseconds: Double {
    let (seconds, attoseconds) = duration(to: .now).components
    return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
  }
}

/// The result of measuring a row.
struct Measurement: Sendable {
  let name: String
  let what: String
  let baseline: String?
  /// Nanoseconds for one call: in the best round, and in the median round.
  let minimum: Double
  let median: Double
  /// Instructions for one call; nil if they were not counted.
  var instructions: Double?

  /// The first part of the name.
  var group: Substring { name.prefix { $0 != "/" } }
}
