// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal

/// The types of a journal's records, by their encoding.
///
/// An encoding is parsed once, also one that is refused: a journal with one long encoding and many
/// short records of it would take the time of a parse for each.
struct RecordTypes {
  private var known: [String: Result<WireTypes, any Error>] = [:]

  /// Limits that accept every record of a journal: lengths are still checked against the bytes that
  /// are present. The depth is at most 500, because Foundation's JSON reader refuses deeper
  /// nesting.
  private static let limits: WireLimits = {
    var limits = WireLimits()
    (limits.message, limits.text, limits.depth) = (16 << 20, .max, 500)
    return limits
  }()

  /// Returns the types of a record.
  ///
  /// - Throws: `WireError` if they cannot be sent.
  mutating func types(of record: JournalRecord) throws -> WireTypes {
    if let known = known[record.encoding] { return try known.get() }
    let types = Result { try WireTypes(record.encoding, limits: Self.limits) }
    known[record.encoding] = types
    return try types.get()
  }
}
