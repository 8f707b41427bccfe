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
  private let lock = Guarded(())
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// The last stamp of the process.
  private static let clock = Atomic<UInt64>(0)

  package init() {
    unsafe mutex = lock.mutex
  }

  /// A stamp that is larger than all before.
  private static func newStamp() -> UInt64 { clock.add(2, ordering: .relaxed).newValue }

  /// Keeps a call, and gives the note of its selector, if there is one.
  package func keep(_ call: Call) throws -> AnyObject? {
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    // SAFETY: one of `tapes`, which nobody changes meanwhile.
    if let last = unsafe last {
      let (isKept, note) = try unsafe last._withUnsafeGuaranteedRef { tape in
        guard tape.isFor(call) else { return (false, nil as AnyObject?) }
        try tape.append(call, stamp: Self.newStamp())
        return unsafe (true, tape.note)
      }
      if isKept { return note }
    }
    return try keepElsewhere(call)
  }

  /// The same for a call of another selector, or of other types, than the one before.
  @inline(never)
  private func keepElsewhere(_ call: Call) throws(InvocationError) -> AnyObject? {
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
    try tape.append(call, stamp: Self.newStamp())
    return unsafe tape.note
  }

  /// Changes what comes back with each call of a selector. No code of users runs in `change`.
  package func changeNote(for selector: Selector, _ change: (AnyObject?) -> AnyObject) {
    unsafe fwd_lock(mutex)
    let old = unsafe notes[selector]
    let note = change(old)
    unsafe notes[selector] = note
    for tape in unsafe tapes where tape.selector == selector { unsafe tape.note = note }
    unsafe fwd_unlock(mutex)
    // What only the old one held ends without the lock.
    withExtendedLifetime(old) {}
  }

  /// What comes back with each call of a selector.
  package func note(for selector: Selector) -> AnyObject? {
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    return unsafe notes[selector]
  }

  /// The selectors that have a note.
  package var notedSelectors: [Selector] {
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    return unsafe Array(notes.keys)
  }

  /// Looks at the tapes. No code of users runs meanwhile, the end of their objects included.
  package func read<Result>(_ body: ([CallTape]) -> Result) -> Result {
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    return unsafe body(tapes)
  }

  /// Forgets all calls.
  package func forget() {
    unsafe fwd_lock(mutex)
    let old = unsafe tapes
    unsafe tapes = []
    unsafe last = nil
    unsafe fwd_unlock(mutex)
    withExtendedLifetime(old) {}
  }
}
