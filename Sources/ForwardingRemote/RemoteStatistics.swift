// SPDX-License-Identifier: Apache-2.0

/// Counts of the calls of one side, a sender or a host.
///
/// ```swift
/// let room = RemoteProxy(Interface("room"), InProcessTransport(), at: "chat")
/// room.statistics.asked  // 0
/// ```
public struct RemoteStatistics: Hashable, Sendable {
  /// Calls whose caller waits, or waited, for the answer. A sender includes gatherings, and
  /// counts each call as answered, failed or refused when it ends.
  public var asked = 0
  /// Calls without an answer.
  public var told = 0
  /// Calls that were answered. A sender includes calls whose target threw.
  public var answered = 0
  /// For a sender, calls that ended without an answer. For a host, calls whose target threw.
  public var failed = 0
  /// Calls that were refused by the host or, for a sender, also by this process because too many
  /// were in flight.
  public var refused = 0
  /// Messages that are not valid requests or answers.
  public var strange = 0

  /// Makes counts to compare with.
  public init(
    asked: Int = 0, told: Int = 0, answered: Int = 0, failed: Int = 0, refused: Int = 0,
    strange: Int = 0
  ) {
    (self.asked, self.told, self.answered, self.failed) = (asked, told, answered, failed)
    (self.refused, self.strange) = (refused, strange)
  }
}
