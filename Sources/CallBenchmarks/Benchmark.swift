/// One row of a comparison: something that is done over and over.
public struct Benchmark {
  /// `group/what/how`.
  public let name: String
  /// The row that this one is compared with, if there is one.
  public let baseline: String?
  /// Does it so many times.
  public let body: (Int) throws -> Void

  /// Throws if the row does not measure what it says.
  var check: (() throws -> Void)?

  /// Describes a row.
  public init(_ name: String, over baseline: String? = nil, _ body: @escaping (Int) throws -> Void)
  {
    self.name = name
    self.baseline = baseline
    self.body = body
  }
}

/// What a row measured.
public struct Measurement: Sendable {
  /// `group/what/how`.
  public let name: String
  /// The row that this one is compared with.
  public let baseline: String?
  /// Nanoseconds for each time: the best round, and the one in the middle.
  public let minimum: Double
  public let median: Double
  /// The minimum over the baseline's minimum.
  public internal(set) var ratio: Double?
  /// Allocations for each time, where they were counted.
  public let allocations: Double?
  /// Instructions for each time, where they were counted.
  public var instructions: Double?

  /// What the name begins with.
  var group: String { String(name.prefix { $0 != "/" }) }
}

/// A line of measurements along one growing number.
public struct Curve: Sendable {
  /// What grows, and what is measured.
  public let title: String
  public let xLabel: String
  public let yLabel: String
  /// Each line: its name, and its points.
  public var lines: [(name: String, points: [(x: Double, y: Double)])]

  /// Describes a chart without lines.
  public init(_ title: String, x: String, y: String) {
    self.title = title
    xLabel = x
    yLabel = y
    lines = []
  }
}
