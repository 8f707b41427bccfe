public import CForwardingShims

/// How the arguments of a call move between a Swift tuple and a frame, found once for a plan.
///
/// A parameter pack is walked at run time, one argument after the other, at the price of a call each.
/// A tuple of the same types costs a store for each argument: so arguments travel as a tuple, and C
/// moves its words by a list. For arguments that are plain words; there is none for others.
@safe
@usableFromInline
package final class TupleLayout: @unchecked Sendable {
  // SAFETY: allocated and filled in `init`, freed in `deinit`, only read in between.
  @usableFromInline let moves: UnsafeMutablePointer<FWDMove>
  @usableFromInline let count: Int

  /// Finds the moves for the places of `plan` from argument `first` on; nil if one of the types is
  /// more than a word. The types fit the places.
  @usableFromInline
  package init?<each Argument: CallValue>(
    _ plan: CallPlan, first: Int, _ types: repeat (each Argument).Type
  ) {
    var found: [FWDMove] = []
    var offset = 0
    var isPlain = true
    func add<Value: CallValue>(_ type: Value.Type) {
      let alignment = MemoryLayout<Value>.alignment
      offset = (offset + alignment - 1) / alignment * alignment
      let slot = unsafe plan.slots[first + found.count]
      // A promoted argument of a variadic function is wider than its type.
      guard let word = Value._word, slot.kind == Value.valueKind.raw, offset <= UInt16.max else {
        isPlain = false
        return
      }
      found.append(FWDMove(frame: slot.offset, tuple: UInt16(offset), word: word.raw))
      offset += MemoryLayout<Value>.size
    }
    for type in repeat each types {
      guard isPlain else { return nil }
      add(type)
    }
    guard isPlain else { return nil }
    count = found.count
    unsafe moves = .allocate(capacity: max(1, count))
    unsafe moves.initialize(from: found, count: count)
  }

  deinit { unsafe moves.deallocate() }

  /// Writes the arguments into a frame of the plan.
  @inlinable
  @inline(__always)
  func store<Tuple>(_ tuple: Tuple, in record: CallRecord) {
    unsafe withUnsafePointer(to: tuple) { unsafe fwd_tuple_store(moves, count, $0, record.frame) }
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

/// How the memory of a value becomes a word, for types that are nothing but one.
public struct _WordLayout: Sendable {
  let raw: FWDWord

  static let whole = _WordLayout(raw: .whole)

  /// The layout of an integer type.
  static func integer<Value: FixedWidthInteger>(_: Value.Type) -> _WordLayout? {
    switch (Value.bitWidth, Value.isSigned) {
    case (8, true): _WordLayout(raw: .int8)
    case (8, false): _WordLayout(raw: .uInt8)
    case (16, true): _WordLayout(raw: .int16)
    case (16, false): _WordLayout(raw: .uInt16)
    case (32, true): _WordLayout(raw: .int32)
    case (32, false): _WordLayout(raw: .uInt32)
    case (64, _): .whole
    default: nil
    }
  }
}
