/// The cases that peers' tests and measurements agreed on, by their number in `conformance.tsv`.
public struct Conformance: Sendable {
  /// What a case here does: check it, or say why it cannot be asked of this package.
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

  /// The rows of the areas, in the order of the table.
  public func rows() throws -> [Table.Row] {
    try Table("conformance").rows.filter { areas.contains($0["area"]) }
  }
}
