// SPDX-License-Identifier: Apache-2.0
/// One row of a comparison: an operation that is repeated.
public struct Benchmark {
  /// `group/what/how`.
  public let name: String
  /// The row that this one is compared with, if there is one.
  public let baseline: String?
  /// Repeats the operation the given number of times.
  public let body: (Int) throws -> Void

  /// Throws if the row does not measure what its name says.
  var check: (() throws -> Void)?

  /// Describes a row.
  public init(_ name: String, over baseline: String? = nil, _ body: @escaping (Int) throws -> Void)
  {
    self.name = name
    self.baseline = baseline
    self.body = body
  }
}

/// The result of measuring a row.
public struct Measurement: Sendable {
  /// `group/what/how`.
  public let name: String
  /// The row that this one is compared with.
  public let baseline: String?
  /// Nanoseconds for one repetition: in the best round, and in the median round.
  public let minimum: Double
  public let median: Double
  /// The minimum over the baseline's minimum.
  public internal(set) var ratio: Double?
  /// Allocations for one repetition; nil if they were not counted.
  public let allocations: Double?
  /// Instructions for one repetition; nil if they were not counted.
  public var instructions: Double?

  /// Describes a row that another program measured.
  public init(name: String, over baseline: Measurement?, minimum: Double, median: Double) {
    self.init(
      name: name, baseline: baseline?.name, minimum: minimum, median: median,
      ratio: baseline.map { minimum / $0.minimum }, allocations: nil)
  }

  init(
    name: String, baseline: String?, minimum: Double, median: Double, ratio: Double?,
    allocations: Double?, instructions: Double? = nil
  ) {
    self.name = name
    self.baseline = baseline
    self.minimum = minimum
    self.median = median
    self.ratio = ratio
    self.allocations = allocations
    self.instructions = instructions
  }

  /// The first part of the name.
  var group: String { String(name.prefix { $0 != "/" }) }
}

/// A chart of measurements over one growing number.
public struct Curve: Sendable {
  /// The title, and the labels of the axes.
  public let title: String
  public let xLabel: String
  public let yLabel: String
  /// The lines of the chart, each with its name and its points.
  public var lines: [(name: String, points: [(x: Double, y: Double)])]

  /// Describes a chart without lines.
  public init(_ title: String, x: String, y: String) {
    self.title = title
    xLabel = x
    yLabel = y
    lines = []
  }
}
