// SPDX-License-Identifier: Apache-2.0
/// Decodes a report from ``Report/json``. A JSON object has no order, so the machine is first in
/// the environment, and the rest is sorted by name.
extension Report: Decodable {
  private enum Part: String, CodingKey { case environment, rows, curves, skipped }

  public init(from decoder: any Decoder) throws {
    let parts = try decoder.container(keyedBy: Part.self)
    let facts = try parts.decode([String: String].self, forKey: .environment)
    let first = ["processor", "system", "Swift"].filter { facts[$0] != nil }
    let names = first + facts.keys.filter { !first.contains($0) }.sorted()
    self.init(
      environment: names.map { ($0, facts[$0] ?? "") },
      rows: try parts.decode([Measurement].self, forKey: .rows),
      curves: try parts.decodeIfPresent([Curve].self, forKey: .curves) ?? [],
      skipped: try parts.decodeIfPresent([String].self, forKey: .skipped) ?? [])
  }
}

extension Measurement: Decodable {
  private enum Part: String, CodingKey {
    case name, baseline, ratio, allocations, instructions
    case minimum = "ns_min"
    case median = "ns_median"
  }

  public init(from decoder: any Decoder) throws {
    let parts = try decoder.container(keyedBy: Part.self)
    // A value that could not be measured is null.
    self.init(
      name: try parts.decode(String.self, forKey: .name),
      baseline: try parts.decodeIfPresent(String.self, forKey: .baseline),
      minimum: try parts.decodeIfPresent(Double.self, forKey: .minimum) ?? .nan,
      median: try parts.decodeIfPresent(Double.self, forKey: .median) ?? .nan,
      ratio: try parts.decodeIfPresent(Double.self, forKey: .ratio),
      allocations: try parts.decodeIfPresent(Double.self, forKey: .allocations),
      instructions: try parts.decodeIfPresent(Double.self, forKey: .instructions))
  }
}

extension Curve: Decodable {
  private enum Part: String, CodingKey { case title, x, y, lines }

  private struct Line: Decodable {
    let name: String
    let points: [[Double?]]
  }

  public init(from decoder: any Decoder) throws {
    let parts = try decoder.container(keyedBy: Part.self)
    self.init(
      try parts.decode(String.self, forKey: .title), x: try parts.decode(String.self, forKey: .x),
      y: try parts.decode(String.self, forKey: .y))
    lines = try parts.decode([Line].self, forKey: .lines).map { line in
      (
        line.name,
        line.points.map { (x: ($0.first ?? nil) ?? .nan, y: ($0.last ?? nil) ?? .nan) }
      )
    }
  }
}
