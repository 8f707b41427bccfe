// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

// Calls of C functions with strings as C strings. They are not inlined, because calls of words would
// then reserve their frames.
extension PreparedFunction {
  /// Calls a C function with few words. Strings are passed as C strings.
  @inlinable @unsafe
  @inline(never)
  func callLendingWords<Answer, Value, each Argument>(
    _ code: UnsafeRawPointer, _ tuple: UnsafeRawPointer, _ moves: UnsafePointer<FWDMove>,
    as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws -> Answer {
    try unsafe withUnsafeTemporaryAllocation(of: FWDTextRoom.self, capacity: Int(FWD_ARRAY_MAX)) {
      var returned: UInt64 = 0
      // SAFETY: see `call`. `init` compared the number of arguments with that of the rooms.
      guard
        unsafe fwd_call_lending(
          code, moves, count, tuple, $0.baseAddress.unsafelyUnwrapped, &returned) != 0
      else { return try unsafe callSlowly(tuple, as: type) }
      guard Answer.self == String.self else { return unsafe answer(returned) }
      // The result may point into an argument, which is lent until this returns.
      guard let text = unsafe String(copying: UnsafePointer(bitPattern: UInt(returned))) else {
        throw InvocationError.notText(index: nil)
      }
      return unsafe unsafeBitCast(text, to: Answer.self)
    }
  }

  /// Calls a C function with a frame in which strings are C strings, and converts its result.
  @inlinable @unsafe
  @inline(never)
  func callLending<Answer, Value, each Argument>(
    _ code: UnsafeRawPointer, _ tuple: UnsafeRawPointer, _ moves: UnsafePointer<FWDMove>,
    as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws -> Answer {
    try unsafe withUnsafeTemporaryAllocation(
      byteCount: MemoryLayout<FWDLentFrame>.size, alignment: 16
    ) { memory in
      let base = unsafe memory.baseAddress.unsafelyUnwrapped
      let frame = unsafe base.assumingMemoryBound(to: FWDLentFrame.self)
      // Text that cannot be lent is copied, or refused.
      guard unsafe fwd_tuple_lend(moves, count, tuple, frame) != 0 else {
        return try unsafe callSlowly(tuple, as: type)
      }
      // SAFETY: see `call`.
      unsafe fwd_call(facts, base.assumingMemoryBound(to: FWDFrame.self), code)
      // The result may point into an argument, which is lent until this returns.
      return try unsafe converted(in: base)
    }
  }

  /// Reads the result in a frame.
  @inlinable @unsafe
  @inline(__always)
  func converted<Answer>(in frame: UnsafeMutableRawPointer) throws(InvocationError) -> Answer {
    let slot = unsafe ValueSlot(slot: fwd_facts_result(facts), frame: frame, index: nil)
    if Answer.self == String.self {
      return unsafe unsafeBitCast(try unsafe String.load(from: slot), to: Answer.self)
    }
    if case .word = result.content { return unsafe answer(slot.word) }
    if Answer.self == Void.self || Answer.self == NoResult.self { return unsafe answer(0) }
    return try unsafe result.load(as: Answer.self, from: slot)
  }

}
