// SPDX-License-Identifier: Apache-2.0
/// How a journal is written.
///
/// ```swift
/// var options = JournalOptions()
/// options.sync = .group         // calls return when they are on the disk; threads share the wait
/// options.moment = .afterwards  // records tell what became of a call
/// ```
public struct JournalOptions: Sendable {
  /// When a record is on the disk, so that it survives a crash of the machine. It survives a crash
  /// of the process in any case.
  public enum Sync: Hashable, Sendable {
    /// When the system writes it, or ``Journal/sync()`` is called.
    case never
    /// Before the call is forwarded. Each call syncs separately.
    case each
    /// Before the call is forwarded. Concurrent callers share a sync.
    case group
  }

  /// When a call is recorded.
  public enum Moment: Hashable, Sendable {
    /// Before it is made. A call that cannot be recorded is not made.
    case before
    /// After it was made, with its result or error.
    case afterwards
  }

  /// When records are on the disk; ``Sync/never`` by default.
  public var sync = Sync.never
  /// When calls are recorded; ``Moment/before`` by default.
  public var moment = Moment.before
  /// The size in bytes from which the file is rotated; nil for no rotation.
  public var rotation: Int?

  /// Makes the default options.
  public init() {}
}
