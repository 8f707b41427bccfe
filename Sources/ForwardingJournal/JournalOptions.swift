/// How a journal is written.
///
/// ```swift
/// var options = JournalOptions()
/// options.sync = .group         // calls return when they are on the disk; threads share the wait
/// options.moment = .afterwards  // records tell what became of a call
/// ```
public struct JournalOptions: Sendable {
  /// When a record is on the disk, and survives the machine. It survives the process in any case.
  public enum Sync: Hashable, Sendable {
    /// When the system likes, or ``Journal/sync()`` is called.
    case never
    /// Before the call goes on; each waits for itself.
    case each
    /// Before the call goes on; those who wait at the same time share one wait.
    case group
  }

  /// When a call is written.
  public enum Moment: Hashable, Sendable {
    /// Before it is made: one that cannot be written is not made.
    case before
    /// Afterwards, with its result or error.
    case afterwards
  }

  /// When records are on the disk. ``Sync/never`` at first.
  public var sync = Sync.never
  /// When calls are written. ``Moment/before`` at first.
  public var moment = Moment.before
  /// A file that has become so long is put aside, and a new one begun; nil for one file.
  public var rotation: Int?

  /// The usual settings.
  public init() {}
}
