// SPDX-License-Identifier: Apache-2.0
/// How a journal is written.
///
/// ```swift
/// var options = JournalOptions()
/// options.sync = .group         // calls return when they are on the disk; threads share the wait
/// options.rotation = 64 << 20   // a new file every 64 MB
/// options.rotatedFiles = 10     // the oldest file is removed when there are more
/// ```
public struct JournalOptions: Sendable {
  /// When a record is on the disk, so that it survives a crash of the machine. It survives a crash
  /// of the process in any case.
  public enum Sync: Hashable, Sendable {
    /// When the system writes it, or ``Journal/sync()`` is called.
    case never
    /// Before the call is forwarded. Concurrent callers share a sync.
    case group
  }

  /// When records are on the disk; ``Sync/never`` by default.
  public var sync = Sync.never
  /// The size in bytes from which the file is rotated before the next call; nil for no rotation. If
  /// the rotation fails, the call is refused.
  public var rotation: Int?
  /// The number of rotated files that are kept. A rotation removes the oldest ones beyond it, and
  /// fails if it cannot. Nil keeps all.
  public var rotatedFiles: Int?

  /// Makes the default options.
  public init() {}
}
