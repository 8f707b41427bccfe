// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
public import Invocations

/// Which calls of a journal are replayed, and how.
///
/// ```swift
/// var options = ReplayOptions()
/// options.first = 100                                   // from record 100 on
/// options.filter = { $0.selector.hasPrefix("deposit") } // these alone
/// options.isDry = true                                  // read all, make none
/// ```
public struct ReplayOptions {
  /// The sequence number of the first record to replay.
  public var first: UInt64 = 0
  /// The sequence number of the last record to replay; nil for all.
  public var last: UInt64?
  /// The time of the last record to replay, in nanoseconds since 1970; nil for all.
  public var until: Int64?
  /// Decides which of these calls are made; nil for all.
  public var filter: ((JournalRecord) throws -> Bool)?
  /// The speed of the replay. With 1 the calls have the time intervals of the records, with 2 half
  /// of them. Nil does not wait.
  public var speed: Double?
  /// Whether calls are read but not made.
  public var isDry = false
  /// Whether the first error of a call ends the replay; false by default, because a call that threw
  /// when it was recorded may throw again. ``ReplaySummary/threw`` counts the errors.
  public var stopsAtErrors = false
  /// Converts a call whose message this process does not have with the recorded types. Without
  /// this, such a call makes the replay throw before it begins.
  public var migrate: ((JournalRecord) throws -> JournalMigration)?

  /// Makes options that replay all calls as quickly as possible.
  public init() {}
}

/// The replacement for a call whose message has changed since it was recorded.
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
  /// Makes this call in its place.
  case call(Invocation)
  /// Makes no call.
  case skip
}

/// The result of a replay.
///
/// ```swift
/// func report(_ summary: ReplaySummary) -> String { "\(summary.made) made, \(summary.threw) threw" }
/// ```
public struct ReplaySummary: Hashable, Sendable {
  /// The number of calls that were made, or would have been in a dry run.
  public internal(set) var made = 0
  /// The number of them that threw.
  public internal(set) var threw = 0
  /// The text of the first error.
  public internal(set) var firstError: String?
  /// The number of calls that the filter or a migration skipped.
  public internal(set) var skipped = 0
  /// The number of calls that were migrated.
  public internal(set) var migrated = 0
  /// The sequence number of the last record that was read; 0 if there was none.
  public internal(set) var last: UInt64 = 0
}
