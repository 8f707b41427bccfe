public import CForwardingShims

/// How the arguments of a call move between a Swift tuple and a frame, found once for a plan.
///
/// A parameter pack is walked at run time, one argument after the other, at the price of a call each.
/// A tuple of the same types costs a store for each argument: so arguments travel as a tuple, and C
/// moves its words by a list. For arguments that are words; there is none for others.
@safe
@usableFromInline
package final class TupleLayout: @unchecked Sendable {
  // SAFETY: allocated and filled in `init`, freed in `deinit`, only read in between.
  @usableFromInline let moves: UnsafeMutablePointer<FWDMove>
  @usableFromInline let count: Int

  /// Finds the moves for the arguments of a plan; nil if one of the types is more than a word.
  @usableFromInline
  package init?<Value: CallValue, each Argument: CallValue>(
    _ fitted: FittedPlan<Value, repeat each Argument>
  ) {
    let plan = fitted.plan
    let first = fitted.first
    var found: [FWDMove] = []
    var offset = 0
    var isWords = true
    func add<Moved: CallValue>(_ type: Moved.Type) {
      let alignment = MemoryLayout<Moved>.alignment
      offset = (offset + alignment - 1) / alignment * alignment
      let slot = unsafe plan.slots[first + found.count]
      // A promoted argument of a variadic function is wider than its type.
      guard let word = Moved.memoryWord, slot.kind == Moved.valueKind.raw,
        offset <= UInt16.max
      else {
        isWords = false
        return
      }
      found.append(FWDMove(frame: slot.offset, tuple: UInt16(offset), word: word))
      offset += MemoryLayout<Moved>.size
    }
    for type in repeat (each Argument).self {
      guard isWords else { return nil }
      add(type)
    }
    guard isWords else { return nil }
    count = found.count
    unsafe moves = .allocate(capacity: max(1, count))
    unsafe moves.initialize(from: found, count: count)
  }

  deinit { unsafe moves.deallocate() }

  /// Writes the arguments into a frame of the plan.
  @inlinable
  @inline(__always)
  func store<Tuple>(_ tuple: Tuple, in call: Call) {
    unsafe withUnsafePointer(to: tuple) { unsafe fwd_tuple_store(moves, count, $0, call.frame) }
  }

  /// Reads the arguments from a frame of the plan.
  @inlinable
  @inline(__always)
  func load<Tuple>(as type: Tuple.Type, from frame: FrameReference) -> Tuple {
    unsafe withUnsafeTemporaryAllocation(of: Tuple.self, capacity: 1) { memory in
      // SAFETY: room for one was asked for, and the moves fill all of it: they were made for it.
      let base = unsafe memory.baseAddress.unsafelyUnwrapped
      unsafe fwd_tuple_load(moves, count, base, frame.base)
      return unsafe base.move()
    }
  }
}
