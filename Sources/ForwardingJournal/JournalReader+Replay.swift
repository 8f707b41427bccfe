// SPDX-License-Identifier: Apache-2.0
public import ForwardingWire
import Invocations

// Replaying the calls of a journal.
extension JournalReader {
  /// Makes the calls of the journal again, in their order, from the next record on.
  ///
  /// All remaining records are read and checked first. So damage, and a message that this process
  /// does not have with the recorded types, are found before any call is made. If a value is
  /// refused, the reader is positioned before that call.
  ///
  /// - Parameters:
  ///   - interface: the messages of this process.
  ///   - target: the receiver of the calls.
  ///   - options: which calls are made, and what becomes of calls that fail.
  /// - Returns: the numbers of calls that were made and that failed.
  /// - Throws: ``JournalError``, ``JournalError/schema(offset:selector:expected:given:)`` among
  ///   them, if a record cannot be read or made; ``ReplayError`` if calls have failed, unless
  ///   ``ReplayOptions/failures`` ignores that. If both, ``ReplayError/ending`` has the first one.
  /// - Complexity: O(*n*) in the size of the journal.
  @discardableResult
  public func replay(
    _ interface: Interface, into target: AnyObject, _ options: ReplayOptions = ReplayOptions()
  ) throws -> ReplaySummary {
    let cursor = try ReplayCursor(self, interface, options)
    while let ready = try cursor.next() {
      let unanswered = ready.unanswered(by: target)
      do {
        try ready.call.send(to: target)
        if let unanswered { throw unanswered }
      } catch {
        try cursor.note(error, of: ready)
      }
    }
    return try cursor.conclude()
  }

  /// Replays the calls into an object that conforms to the protocol of a face.
  ///
  /// - Throws: the errors of ``replay(_:into:_:)``.
  @discardableResult
  public func replay<Face: ForwardingFace>(
    _ interface: Interface, into target: Face.__Target, as face: Face.Type,
    _ options: ReplayOptions = ReplayOptions()
  ) throws -> ReplaySummary {
    try replay(interface, into: Face.__prepare(target), options)
  }

  /// Replays the calls and awaits each before the next. Ends immediately if the task is cancelled;
  /// then the reader is positioned before the call that was not made.
  ///
  /// - Throws: `CancellationError`, and the errors of ``replay(_:into:_:)``. If calls have failed
  ///   before a cancellation, it is the ``ReplayError/ending`` of a ``ReplayError``.
  @discardableResult
  public nonisolated(nonsending) func replayAwaiting(
    _ interface: Interface, into target: AnyObject, _ options: ReplayOptions = ReplayOptions()
  ) async throws -> ReplaySummary {
    let cursor = try ReplayCursor(self, interface, options, isAwaited: true)
    while let ready = try cursor.next() {
      let unanswered = ready.unanswered(by: target)
      do {
        try await ready.call.sendAwaiting(to: target)
        if let unanswered { throw unanswered }
      } catch {
        try cursor.note(error, of: ready)
      }
    }
    return try cursor.conclude()
  }
}
