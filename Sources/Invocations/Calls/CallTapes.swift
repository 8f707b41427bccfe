import CForwardingShims
import Synchronization

/// What an object was sent: a tape for each selector and plan, behind one lock.
///
/// Each call gets a stamp. A later call has a larger one, whichever object it was sent to; the lowest bit of a
/// stamp is the reader's, to remember which calls he has seen.
package final class CallTapes: Sendable {
  private struct State {
    var tapes: [CallTape] = []
    /// The tape that was written last: most calls are like the one before.
    var last = 0
    /// What the owner wants back with each call of a selector.
    var notes: [Selector: AnyObject] = [:]
  }

  // Handed from thread to thread under the lock.
  private let state = Guarded(State())

  /// The last stamp of the process.
  private static let clock = Atomic<UInt64>(0)

  package init() {}

  /// A stamp that is larger than all before.
  package static func newStamp() -> UInt64 {
    clock.add(2, ordering: .relaxed).newValue
  }

  /// Keeps a call, and gives the note of its selector, if there is one.
  package func keep(_ call: Call) throws -> AnyObject? {
    try state.withLockInPlace { state in
      if state.last < state.tapes.count {
        let tape = state.tapes[state.last]
        if tape.isFor(call) {
          try tape.append(call, stamp: Self.newStamp())
          return unsafe tape.note
        }
      }
      return try Self.keepElsewhere(call, &state)
    }
  }

  @inline(never)
  private static func keepElsewhere(_ call: Call, _ state: inout State) throws -> AnyObject? {
    if let index = state.tapes.firstIndex(where: { $0.isFor(call) }) {
      state.last = index
    } else {
      guard let selector = call.selector else { throw InvocationError.selectorNotSet }
      let tape = CallTape(call.plan, selector)
      unsafe tape.note = state.notes[selector]
      state.last = state.tapes.count
      state.tapes.append(tape)
    }
    let tape = state.tapes[state.last]
    try tape.append(call, stamp: newStamp())
    return unsafe tape.note
  }

  /// Sets what comes back with each call of a selector.
  package func setNote(_ note: AnyObject?, for selector: Selector) {
    let old = state.withLockInPlace { state -> AnyObject? in
      for tape in state.tapes where tape.selector == selector { unsafe tape.note = note }
      let old = state.notes[selector]
      state.notes[selector] = note
      return old
    }
    withExtendedLifetime(old) {}
  }

  /// Looks at the tapes. No code of users runs meanwhile, the end of their objects included.
  package func read<Result>(_ body: ([CallTape]) -> Result) -> Result {
    state.read { body($0.tapes) }
  }

  /// Forgets all calls.
  package func forget() {
    let old = state.withLockInPlace { state in
      let old = state.tapes
      state.tapes = []
      state.last = 0
      return old
    }
    withExtendedLifetime(old) {}
  }
}
