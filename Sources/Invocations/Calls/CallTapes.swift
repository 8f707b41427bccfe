import CForwardingShims
import Synchronization

/// What an object was sent: a tape for each selector and plan, behind one lock.
///
/// Each call gets a stamp. A later call has a larger one, whichever object it was sent to; the lowest bit of a
/// stamp is the reader's, to remember which calls he has seen.
@safe
package final class CallTapes: @unchecked Sendable {
  // SAFETY: all that changes is touched between lock and unlock alone. The lock is that of a `Guarded`; it is
  // taken here, as a closure in a generic class would double the time that a call takes.

  @exclusivity(unchecked) private var tapes: [CallTape] = []
  /// The tape that was written last: most calls are like the one before. One of `tapes`, so it is not counted.
  @exclusivity(unchecked) private var last: Unmanaged<CallTape>?
  /// What the owner wants back with each call of a selector.
  @exclusivity(unchecked) private var notes: [Selector: AnyObject] = [:]
  /// The stamps of calls that are kept and have no end yet.
  @exclusivity(unchecked) private var open: [UInt64] = []
  /// How many want to know of ends.
  @exclusivity(unchecked) private var watchers = 0
  private let lock = Guarded(())
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// The last stamp of the process.
  private static let clock = Atomic<UInt64>(0)

  package init() {
    unsafe mutex = lock.mutex
  }

  /// A stamp that is larger than all before.
  private static func newStamp() -> UInt64 { clock.add(2, ordering: .relaxed).newValue }

  /// Keeps a call, and gives the note of its selector, if there is one. With a note, or if it is `open`, the call
  /// has no end before ``end(_:)`` of its stamp; any other has one at once.
  package func keep(_ call: Call, open isOpen: Bool) throws -> (note: AnyObject?, stamp: UInt64) {
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    let stamp = Self.newStamp()
    let note = try write(call, stamp)
    if isOpen || note != nil { unsafe open.append(stamp) }
    return (note, stamp)
  }

  /// Notes the end of a call, and gives all notes if somebody wants to know of it.
  package func end(_ stamp: UInt64) -> [AnyObject] {
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    // The newest end first, mostly.
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
    // SAFETY: one of `tapes`, which nobody changes meanwhile.
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

  /// The same for a call of another selector, or of other types, than the one before.
  @inline(never)
  private func writeElsewhere(
    _ call: Call, _ stamp: UInt64
  ) throws(InvocationError) -> AnyObject? {
    let tape: CallTape
    if let known = unsafe tapes.first(where: { $0.isFor(call) }) {
      tape = known
    } else {
      guard let selector = call.selector else { throw .selectorNotSet }
      tape = CallTape(call.plan, selector)
      unsafe tape.note = notes[selector]
      unsafe tapes.append(tape)
    }
    unsafe last = Unmanaged.passUnretained(tape)
    try tape.append(call, stamp: stamp)
    return unsafe tape.note
  }

  /// Changes what comes back with each call of a selector, and looks at the calls before the first that gets
  /// it: at the tapes, and at the stamps without an end. No code of users runs in `change` and `look`.
  package func changeNote<Seen>(
    for selector: Selector, watchers more: Int = 0, _ change: (AnyObject?) -> AnyObject,
    seeing look: ([CallTape], [UInt64]) -> Seen
  ) -> Seen {
    unsafe fwd_lock(mutex)
    let old = unsafe notes[selector]
    let note = change(old)
    unsafe notes[selector] = note
    for tape in unsafe tapes where tape.selector == selector { unsafe tape.note = note }
    unsafe watchers += more
    let seen = unsafe look(tapes, open)
    unsafe fwd_unlock(mutex)
    // What only the old one held ends without the lock.
    withExtendedLifetime(old) {}
    return seen
  }

  /// What comes back with each call of a selector.
  package func note(for selector: Selector) -> AnyObject? {
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    return unsafe notes[selector]
  }

  /// What comes back with each call, by the selector.
  package var allNotes: [Selector: AnyObject] {
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    return unsafe notes
  }

  /// Looks at the tapes. No code of users runs meanwhile, the end of their objects included.
  package func read<Result>(_ body: ([CallTape]) -> Result) -> Result {
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    return unsafe body(tapes)
  }

  /// Forgets all calls, whose stamps are less than the one that it gives.
  package func forget() -> UInt64 {
    unsafe fwd_lock(mutex)
    let stamp = Self.newStamp()
    let old = unsafe tapes
    unsafe tapes = []
    unsafe last = nil
    unsafe fwd_unlock(mutex)
    withExtendedLifetime(old) {}
    return stamp
  }
}
