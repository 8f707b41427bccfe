// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Synchronization

import Glibc

/// The record of the calls that an object received: one tape per selector and plan, behind one
/// lock.
///
/// Each call gets a stamp. Later calls have larger stamps, across all objects. The reader uses the
/// lowest bit of a stamp to mark a call as seen.
@safe
package final class CallTapes: @unchecked Sendable {
  // SAFETY: mutable state is only touched between lock and unlock. The lock belongs to a `Guarded`,
  // but is taken directly, because a closure in a generic class would double the time that a call
  // takes.

  @exclusivity(unchecked) private var tapes: [Tape] = []
  /// The tape that was written last, because most calls are like the one before. Not retained,
  /// because it is one of `tapes`.
  @exclusivity(unchecked) private var last: Unmanaged<Tape>?
  /// Objects that the owner gets back with each call of a selector.
  @exclusivity(unchecked) private var notes: [Selector: AnyObject] = [:]
  /// The stamps of recorded calls that have not ended.
  @exclusivity(unchecked) private var open: [UInt64] = []
  /// The number of watchers that are notified of ends.
  @exclusivity(unchecked) private var watchers = 0
  private let lock = Guarded(())
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// The last stamp of the process.
  private static let clock = Atomic<UInt64>(0)

  package init() {
    unsafe mutex = lock.mutex
  }

  /// A stamp that is larger than all stamps before.
  private static func newStamp() -> UInt64 { clock.add(2, ordering: .relaxed).newValue }

  /// Records a call, and returns the note of its selector, if there is one. If `isOpen` is set, or
  /// if there is a note, the call lasts until ``end(_:)`` with its stamp. Other calls end at once.
  package func keep(_ call: Call, open isOpen: Bool) throws -> (note: AnyObject?, stamp: UInt64) {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    let stamp = Self.newStamp()
    let note = try write(call, stamp)
    if isOpen || note != nil { unsafe open.append(stamp) }
    return (note, stamp)
  }

  /// Ends a call. Returns all notes if there are watchers.
  package func end(_ stamp: UInt64) -> [AnyObject] {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    // Mostly, the newest call ends first.
    if unsafe open.last == stamp {
      unsafe open.removeLast()
    } else if let index = unsafe open.lastIndex(of: stamp) {
      unsafe open.swapAt(index, open.count - 1)
      unsafe open.removeLast()
    }
    return unsafe watchers > 0 ? Array(notes.values) : []
  }

  @inline(__always)
  private func write(_ call: Call, _ stamp: UInt64) throws -> AnyObject? {
    // SAFETY: one of `tapes`, which the lock protects.
    if let last = unsafe last {
      let (isKept, note) = try unsafe last._withUnsafeGuaranteedRef { tape in
        guard tape.isFor(call) else { return (false, nil as AnyObject?) }
        try tape.append(call, stamp: stamp)
        return unsafe (true, tape.note)
      }
      if isKept { return note }
    }
    return try writeElsewhere(call, stamp)
  }

  /// Records a call of another selector, or of other types, than the call before.
  @inline(never)
  private func writeElsewhere(
    _ call: Call, _ stamp: UInt64
  ) throws(InvocationError) -> AnyObject? {
    let tape: Tape
    if let known = unsafe tapes.first(where: { $0.isFor(call) }) {
      tape = known
    } else {
      guard let selector = call.selector else { throw .selectorNotSet }
      tape = Tape(call.plan, selector)
      unsafe tape.note = notes[selector]
      unsafe tapes.append(tape)
    }
    unsafe last = Unmanaged.passUnretained(tape)
    try tape.append(call, stamp: stamp)
    return unsafe tape.note
  }

  /// Replaces the note of a selector, and shows `look` the calls before the first that gets the new
  /// note: the tapes, and the stamps of calls that have not ended. `change` and `look` must not run
  /// code of users.
  package func changeNote<Seen>(
    for selector: Selector, watchers more: Int = 0, _ change: (AnyObject?) -> AnyObject,
    seeing look: ([Tape], [UInt64]) -> Seen
  ) -> Seen {
    unsafe pthread_mutex_lock(mutex)
    let old = unsafe notes[selector]
    let note = change(old)
    unsafe notes[selector] = note
    for tape in unsafe tapes where tape.selector == selector { unsafe tape.note = note }
    unsafe watchers += more
    let seen = unsafe look(tapes, open)
    unsafe pthread_mutex_unlock(mutex)
    // Objects that only the old note retains die outside of the lock.
    withExtendedLifetime(old) {}
    return seen
  }

  /// The note of a selector.
  package func note(for selector: Selector) -> AnyObject? {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe notes[selector]
  }

  /// All notes by their selectors.
  package var allNotes: [Selector: AnyObject] {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe notes
  }

  /// Reads the tapes under the lock. `body` must not run code of users, and release none of their
  /// objects.
  package func read<Result>(_ body: ([Tape]) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe body(tapes)
  }

  /// Removes all calls. Returns a stamp that is larger than theirs.
  package func forget() -> UInt64 {
    unsafe pthread_mutex_lock(mutex)
    let stamp = Self.newStamp()
    let old = unsafe tapes
    unsafe tapes = []
    unsafe last = nil
    unsafe pthread_mutex_unlock(mutex)
    withExtendedLifetime(old) {}
    return stamp
  }
}
