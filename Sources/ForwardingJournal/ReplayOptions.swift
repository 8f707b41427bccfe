import ForwardingWire
public import Invocations

/// Which calls of a journal are made again, and how.
///
/// ```swift
/// var options = ReplayOptions()
/// options.first = 100                                   // from record 100 on
/// options.filter = { $0.selector.hasPrefix("deposit") } // these alone
/// options.isDry = true                                  // read all, make none
/// ```
public struct ReplayOptions {
  /// The number of the first record.
  public var first: UInt64 = 0
  /// The number of the last one; nil for all.
  public var last: UInt64?
  /// The time of the last one, in nanoseconds since 1970 began; nil for all.
  public var until: Int64?
  /// Tells which of these are made; nil for all.
  public var filter: ((JournalRecord) throws -> Bool)?
  /// 1 makes the calls at the distances at which they were written, 2 twice as fast; nil does not wait.
  public var speed: Double?
  /// Whether calls are read, and not made.
  public var isDry = false
  /// Whether the first error that a call throws ends the replay. A call that threw when it was written may throw
  /// again, so it does not, at first; ``ReplaySummary/threw`` counts.
  public var stopsAtErrors = false
  /// What to make of a call whose message this process does not have, or has with other types. Without this, the
  /// replay does not begin.
  public var migrate: ((JournalRecord) throws -> JournalMigration)?

  /// All calls, as quickly as possible.
  public init() {}
}

/// What becomes of a call whose message has changed since it was written.
///
/// ```swift
/// var options = ReplayOptions()
/// let deposit = try Message<NoResult, Int64>("deposit:")
/// options.migrate = { record in
///   guard record.selector == "deposit:", case .integer(let amount)? = try record.values().first else { return .skip }
///   return .call(try deposit.invocation(Int64(amount)))
/// }
/// ```
public enum JournalMigration {
  /// This call is made in its place.
  case call(Invocation)
  /// None is.
  case skip
}

/// What a replay did.
///
/// ```swift
/// func report(_ summary: ReplaySummary) -> String { "\(summary.made) made, \(summary.threw) threw" }
/// ```
public struct ReplaySummary: Hashable, Sendable {
  /// How many calls were made, or would have been.
  public internal(set) var made = 0
  /// How many of them threw.
  public internal(set) var threw = 0
  /// The first error, in words.
  public internal(set) var firstError: String?
  /// How many were left out by the filter, or by a migration.
  public internal(set) var skipped = 0
  /// How many were migrated.
  public internal(set) var migrated = 0
  /// The number of the last record that was read; 0 for none.
  public internal(set) var last: UInt64 = 0
}
