public import ForwardingWire
import Foundation
import Invocations

// The calls of a journal, made again.
extension JournalReader {
  /// Makes the calls of the journal again, in their order, from the next one on.
  ///
  /// All that is to come is read first. A journal that is damaged, and a message that this process does not have as it
  /// was written, is found before any call is made. If a filter or a migration throws, or a value is refused, the reader
  /// stands in front of that call then.
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

  /// The same for an object of a face's protocol.
  @discardableResult
  public func replay<Face: ForwardingFace>(
    _ interface: Interface, into target: Face.__Target, as face: Face.Type,
    _ options: ReplayOptions = ReplayOptions()
  ) throws -> ReplaySummary {
    try replay(interface, into: Face.__prepare(target), options)
  }

  /// The same for calls that are awaited, one after the other. Ends at once when its task is cancelled,
  /// and the reader stands in front of the call that was not made.
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
  /// The arguments, as the encoding tells them. A journal whose interface has other limits than the usual is read
  /// with these.
  public func values(limits: WireLimits = WireLimits()) throws(WireError) -> [WireValue] {
    try WireTypes(encoding, limits: limits).arguments(arguments)
  }
}
