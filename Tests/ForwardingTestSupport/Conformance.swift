// SPDX-License-Identifier: Apache-2.0
import Testing

/// The cases on which other libraries' tests and measurements agree, by their number in
/// `conformance.tsv`.
public struct Conformance: Sendable {
  /// The check of a case, or the reason that it does not apply to this package.
  public enum Answer: Sendable {
    case check(@Sendable () throws -> Void)
    case notApplicable(String)
    /// Checked by the suite of this name.
    case checked(in: String)
  }

  public let areas: Set<String>
  public let answers: [String: Answer]

  public init(areas: Set<String>, _ answers: [String: Answer]) {
    self.areas = areas
    self.answers = answers
  }

  /// The numbers of rows without an answer, and of answers without a row.
  public func unmatched() throws -> Set<String> {
    Set(try rows().map { $0["id"] }).symmetricDifference(answers.keys)
  }

  /// Checks the row, or prints the reason that it is not checked here.
  public func run(_ id: String) throws {
    switch answers[id] {
    case .check(let body): try body()
    case .checked(let suite): print("\(id) is checked in \(suite)")
    case .notApplicable(let reason): print("\(id) does not apply: \(reason)")
    case nil: Issue.record("\(id) is no row")
    }
  }

  /// The rows of the areas, in the order of the table.
  public func rows() throws -> [Table.Row] {
    try Table("conformance").rows.filter { areas.contains($0["area"]) }
  }
}
