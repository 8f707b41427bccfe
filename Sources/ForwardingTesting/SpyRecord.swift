// SPDX-License-Identifier: Apache-2.0
import Invocations
import Synchronization

/// What a spy has received, and what it is told to do.
struct SpyRecord {
  struct Entry {
    let call: KeptCall
    let selector: Selector
    /// Later calls have larger stamps, across all spies.
    let stamp: UInt64
    /// Whether a test has looked at the call.
    var isSeen = false
  }

  /// The calls in their order.
  private(set) var calls: [Entry] = []
  /// The configuration of each selector that has one. A list, as most spies have few.
  var scripts: [SpyScript] = []
  /// The stamps of calls that have not ended.
  private(set) var open: [UInt64] = []
  /// The waits for ends of calls.
  var waiters: [UInt64: AsyncStream<Void>.Continuation] = [:]

  private static let clock = Atomic<UInt64>(0)

  /// A stamp that is larger than all stamps before.
  static func newStamp() -> UInt64 { clock.add(1, ordering: .relaxed).newValue }

  /// Keeps a call, and returns the script of its selector, and its stamp if it lasts until ``end(_:)``:
  /// if `isOpen` is set, there is a script, or a test waits.
  mutating func keep(
    _ call: Call, isOpen: Bool
  ) throws(InvocationError) -> (script: SpyScript?, stamp: UInt64?) {
    let kept = try KeptCall.of(call)
    let (selector, stamp) = (kept.selector, Self.newStamp())
    calls.append(Entry(call: kept, selector: selector, stamp: stamp))
    let script = script(selector)
    guard isOpen || script != nil || !waiters.isEmpty else { return (nil, nil) }
    open.append(stamp)
    return (script, stamp)
  }

  func script(_ selector: Selector) -> SpyScript? { scripts.first { $0.selector == selector } }

  /// Changes the configuration of a selector. Returns the old one.
  mutating func tell(
    _ selector: Selector, _ change: (inout SpyScript.Parts) -> Void
  ) -> SpyScript? {
    let index = scripts.firstIndex { $0.selector == selector }
    let old = index.map { scripts[$0] }
    var parts = old?.parts ?? SpyScript.Parts()
    change(&parts)
    let script = SpyScript(selector, parts)
    if let index { scripts[index] = script } else { scripts.append(script) }
    return old
  }

  /// Ends a call. Returns the waiters to notify.
  mutating func end(_ stamp: UInt64) -> [AsyncStream<Void>.Continuation] {
    // Mostly, the newest call ends first.
    if open.last == stamp {
      open.removeLast()
    } else if let index = open.lastIndex(of: stamp) {
      open.remove(at: index)
    }
    return Array(waiters.values)
  }

  /// Marks calls as seen by the test.
  mutating func mark(where isMeant: (Entry) -> Bool) {
    for index in calls.indices where isMeant(calls[index]) { calls[index].isSeen = true }
  }

  /// Removes all calls, and returns them.
  mutating func forget() -> [Entry] {
    defer { calls = [] }
    return calls
  }
}
