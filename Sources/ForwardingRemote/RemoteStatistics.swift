import Synchronization

/// What became of the calls of one side.
///
/// ```swift
/// let room = RemoteProxy(Interface("room"), InProcessTransport(), at: "chat")
/// room.statistics.asked  // 0
/// ```
public struct RemoteStatistics: Hashable, Sendable {
  /// Calls that an answer was, or is, wanted for. Those of who sends, pings and gatherings among them, are answered, failed
  /// or refused when they are over.
  public var asked = 0
  /// Calls that nobody waits for.
  public var told = 0
  /// Calls that have an answer; of who sends, also those whose target threw.
  public var answered = 0
  /// Of who sends, calls that have no answer, and never will. Of a host, those whose target threw.
  public var failed = 0
  /// Calls that were refused: of who sends, by the host, or here, where too many were on their way.
  public var refused = 0
  /// Messages that are none of ours.
  public var strange = 0
  /// Calls that came a second time.
  public var duplicates = 0

  /// Makes counts to compare with.
  public init(
    asked: Int = 0, told: Int = 0, answered: Int = 0, failed: Int = 0, refused: Int = 0,
    strange: Int = 0, duplicates: Int = 0
  ) {
    (self.asked, self.told, self.answered, self.failed) = (asked, told, answered, failed)
    (self.refused, self.strange, self.duplicates) = (refused, strange, duplicates)
  }
}

/// The same, as it is counted.
package final class RemoteCounts: Sendable {
  let asked = Atomic(0)
  let told = Atomic(0)
  let answered = Atomic(0)
  let failed = Atomic(0)
  let refusals = Atomic(0)
  let strangers = Atomic(0)
  let duplicates = Atomic(0)

  func refuse() { refusals.wrappingAdd(1, ordering: .relaxed) }
  func strange() { strangers.wrappingAdd(1, ordering: .relaxed) }

  package var statistics: RemoteStatistics {
    RemoteStatistics(
      asked: asked.load(ordering: .relaxed), told: told.load(ordering: .relaxed),
      answered: answered.load(ordering: .relaxed), failed: failed.load(ordering: .relaxed),
      refused: refusals.load(ordering: .relaxed), strange: strangers.load(ordering: .relaxed),
      duplicates: duplicates.load(ordering: .relaxed))
  }
}
