// SPDX-License-Identifier: Apache-2.0
public import ForwardingWire
import Foundation
import Invocations

// Replaying the calls of a journal.
extension JournalReader {
  /// Makes the calls of the journal again, in their order, from the next record on.
  ///
  /// All remaining records are read and checked first. So damage, and a message that this process
  /// does not have with the recorded types, are found before any call is made. If a filter or a
  /// migration throws, or a value is refused, the reader is positioned before that call.
  ///
  /// - Parameters:
  ///   - interface: the messages of this process.
  ///   - target: the receiver of the calls.
  ///   - options: which calls are made, and how.
  /// - Returns: the numbers of calls that were made, that threw and that were skipped.
  /// - Throws: ``JournalError``, ``JournalError/schema(offset:selector:expected:given:)`` among
  ///   them, if a record cannot be read or made; the errors of the options' closures; the first
  ///   error of a call if ``ReplayOptions/stopsAtErrors`` is set.
  /// - Complexity: O(*n*) in the size of the journal.
  @discardableResult
  public func replay(
    _ interface: Interface, into target: AnyObject, _ options: ReplayOptions = ReplayOptions()
  ) throws -> ReplaySummary {
    let cursor = try ReplayCursor(self, interface, options)
    while let ready = try cursor.next() {
      if cursor.delay > 0 { Thread.sleep(forTimeInterval: Double(cursor.delay) / 1e9) }
      do { try ready.call.send(to: target) } catch {
        guard cursor.goesOn(after: error) else { throw error }
      }
      cursor.give(back: ready)
    }
    return cursor.summary
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
  /// - Throws: `CancellationError`, and the errors of ``replay(_:into:_:)``.
  @discardableResult
  public nonisolated(nonsending) func replayAwaiting(
    _ interface: Interface, into target: AnyObject, _ options: ReplayOptions = ReplayOptions()
  ) async throws -> ReplaySummary {
    let cursor = try ReplayCursor(self, interface, options, isAwaited: true)
    while let ready = try cursor.next() {
      if cursor.delay > 0 {
        do { try await Task.sleep(for: .nanoseconds(cursor.delay)) } catch {
          unread(ready.frame)
          throw error
        }
      }
      do { try await ready.call.sendAwaiting(to: target) } catch {
        guard cursor.goesOn(after: error) else { throw error }
      }
      cursor.give(back: ready)
    }
    return cursor.summary
  }
}

extension JournalRecord {
  /// The arguments, decoded by the encoding of the message. Pass the interface's limits if they
  /// differ from the default.
  ///
  /// - Throws: `WireError` if the bytes do not match the encoding or exceed the limits.
  public func values(limits: WireLimits = WireLimits()) throws(WireError) -> [WireValue] {
    try WireTypes(encoding, limits: limits).arguments(arguments)
  }
}
