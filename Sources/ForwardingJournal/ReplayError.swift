// SPDX-License-Identifier: Apache-2.0

/// The error of a replay whose calls have failed.
///
/// ```swift
/// func report(_ error: ReplayError) { print(error) }  // 2 of 50 calls failed, the first was record 10, 'withdraw:': Overdrawn()
/// ```
public struct ReplayError: Error, CustomStringConvertible {
  /// The number of calls that were made.
  public internal(set) var made = 0
  /// The number of them that failed.
  public internal(set) var failed = 0
  /// The first call that failed.
  public let record: JournalRecord
  /// Its error.
  public let first: any Error
  /// What ended the replay before its last call: a refused value, a fault of the file, or a
  /// cancellation. Nil if all calls were made.
  public internal(set) var ending: (any Error)?

  public var description: String {
    let failed =
      "\(failed) of \(made) calls failed, the first was record \(record.sequence), '\(record.selector)': \(first)"
    return ending.map { "\(failed); the replay was ended by: \($0)" } ?? failed
  }
}
