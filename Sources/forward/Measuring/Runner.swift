// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Measures rows in comparison: all in one process, in rounds of changing order, so that other load
/// on the machine affects all rows alike.
public struct Runner {
  /// The number of rounds, and the time that each row runs in a round, in nanoseconds.
  public var rounds = 120
  public var roundTime = 60_000.0
  /// Returns the number of allocations of the process so far; nil if they are not counted.
  public var countAllocations: (() -> Int)?
  /// Called with the progress: the finished rounds, and all rounds.
  public var progress: ((Int, Int) -> Void)?

  /// Makes a runner with the default settings.
  public init() {}

  /// Nanoseconds of a monotonic clock.
  public static func now() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  private static func time(_ row: Benchmark, _ count: Int) throws -> Double {
    let start = now()
    try row.body(count)
    return now() - start
  }

  /// Measures the rows and returns the results in the order of the rows.
  public func run(_ rows: [Benchmark]) throws -> [Measurement] {
    let counts = try rows.map { row in try iterations(row) }
    let allocated = try rows.map { row in try allocations(row) }
    var times = [[Double]](repeating: [], count: rows.count)
    for round in 0..<rounds {
      for step in rows.indices {
        let index = (step + round * 7) % rows.count
        times[index].append(try Self.time(rows[index], counts[index]) / Double(counts[index]))
      }
      progress?(round + 1, rounds)
    }
    var measured = rows.indices.map { index in
      let sorted = times[index].sorted()
      return Measurement(
        name: rows[index].name, baseline: rows[index].baseline, minimum: sorted[0],
        median: sorted[sorted.count / 2], ratio: nil, allocations: allocated[index])
    }
    let minima = Dictionary(measured.map { ($0.name, $0.minimum) }) { first, _ in first }
    for index in measured.indices {
      guard let name = measured[index].baseline, let base = minima[name], base > 0 else { continue }
      measured[index].ratio = measured[index].minimum / base
    }
    return measured
  }

  /// The number of repetitions of a row in a round.
  private func iterations(_ row: Benchmark) throws -> Int {
    // The first repetitions find methods and fill caches.
    try row.body(10)
    var count = 1
    while true {
      let time = try Self.time(row, count)
      if time > roundTime / 2 || count >= 1 << 22 {
        return max(1, Int(Double(count) * roundTime / max(time, 1)))
      }
      count *= 2
    }
  }

  private func allocations(_ row: Benchmark) throws -> Double? {
    guard let countAllocations else { return nil }
    let count = 100
    let before = countAllocations()
    try row.body(count)
    return Double(countAllocations() - before) / Double(count)
  }
}

extension Report {
  /// The description of this machine.
  public static var thisMachine: [(name: String, value: String)] {
    var found: [(name: String, value: String)] = []
    func lines(_ path: String) -> [Substring] {
      // SAFETY: read in pieces into a buffer of known size.
      guard let file = unsafe fopen(path, "r") else { return [] }
      defer { unsafe fclose(file) }
      var text = ""
      var buffer = [CChar](repeating: 0, count: 4096)
      while unsafe fgets(&buffer, Int32(buffer.count), file) != nil, text.utf8.count < 65_536 {
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }
        text += String(decoding: bytes, as: UTF8.self)
      }
      return text.split(separator: "\n")
    }
    let processors = lines("/proc/cpuinfo").filter { $0.hasPrefix("model name") }
    if let name = processors.first?.split(separator: ":").last {
      found.append(("processor", name.drop { $0 == " " } + ", \(processors.count) cores"))
    }
    if let system = lines("/etc/os-release").first(where: { $0.hasPrefix("PRETTY_NAME=") }) {
      found.append(("system", system.dropFirst(12).filter { $0 != "\"" }))
    }
    return found
  }
}
