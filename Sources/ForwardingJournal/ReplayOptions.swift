// SPDX-License-Identifier: Apache-2.0

/// Which calls of a journal are replayed, and what becomes of calls that fail.
///
/// ```swift
/// var options = ReplayOptions()
/// options.first = 100         // from record 100 on
/// options.failures = .ignore  // as when the calls were recorded
/// ```
public struct ReplayOptions: Sendable {
  /// What a replay does with calls that throw, or that the target does not answer.
  public enum Failures: Hashable, Sendable {
    /// Makes all calls, and throws a ``ReplayError`` at the end if some have failed.
    case throwAtEnd
    /// Throws a ``ReplayError`` after the first one. The reader stands behind that call.
    case throwAtOnce
    /// Makes all calls. ``ReplaySummary/threw`` counts those that have failed.
    case ignore
  }

  /// The sequence number of the first record to replay; 0 for the oldest that there is. If the
  /// journal begins behind another number, the replay throws
  /// ``JournalError/missing(offset:expected:given:)``.
  public var first: UInt64 = 0
  /// The sequence number of the last record to replay; nil for all.
  public var last: UInt64?
  /// The time of the last record to replay, in nanoseconds since 1970; nil for all.
  public var until: Int64?
  /// What becomes of calls that fail; ``Failures/throwAtEnd`` by default.
  public var failures = Failures.throwAtEnd

  /// Makes options that replay all calls.
  public init() {}
}

/// The result of a replay.
///
/// ```swift
/// func report(_ summary: ReplaySummary) -> String { "\(summary.made) made, \(summary.threw) threw" }
/// ```
public struct ReplaySummary: Hashable, Sendable {
  /// The number of calls that were made.
  public internal(set) var made = 0
  /// The number of them that failed.
  public internal(set) var threw = 0
  /// The sequence number of the last call that was made; 0 if there was none.
  public internal(set) var last: UInt64 = 0
}

/// The error of a replay whose calls have failed.
///
/// ```swift
/// func report(_ error: ReplayError) { print(error) }  // 2 of 50 calls failed, the first was record 10, 'withdraw:': Overdrawn()
/// ```
public struct ReplayError: Error, CustomStringConvertible {
  /// The numbers of calls that were made and that have failed.
  public let summary: ReplaySummary
  /// The sequence number of the first call that failed.
  public let sequence: UInt64
  /// The name of its message.
  public let selector: String
  /// Its error.
  public let first: any Error
  /// What ended the replay before its last call: a refused value, a fault of the file, or a
  /// cancellation. Nil if all calls were made, and with ``ReplayOptions/Failures/throwAtOnce``.
  public let ending: (any Error)?

  public var description: String {
    let failed =
      "\(summary.threw) of \(summary.made) calls failed, the first was record \(sequence), '\(selector)': \(first)"
    return ending.map { "\(failed); the replay was ended by: \($0)" } ?? failed
  }
}
