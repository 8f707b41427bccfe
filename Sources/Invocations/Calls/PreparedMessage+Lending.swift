// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

// A message whose call the caller has to itself: to take several answers out of it.
extension PreparedMessage {
  /// Lends a call with arguments that were copied into a tuple to `body`.
  @inlinable
  @inline(__always)
  package func withCall<each Argument>(
    tuple arguments: (repeat each Argument), as selector: Selector, _ body: (Call) throws -> Void
  ) throws {
    guard unsafe moves != nil else {
      return try withLargeCall(repeat each arguments, as: selector, body)
    }
    try unsafe withUnsafePointer(to: arguments) { tuple in
      try unsafe lend(tuple, as: selector, body)
    }
  }

  /// Lends a call on the stack to `body`, with the arguments of a tuple.
  @inlinable @unsafe
  @inline(__always)
  func lend(
    _ tuple: UnsafeRawPointer, as selector: Selector, _ body: (Call) throws -> Void
  ) throws {
    try unsafe withUnsafeTemporaryAllocation(
      byteCount: MemoryLayout<FWDScopedFrame>.size, alignment: 16
    ) { memory in
      // SAFETY: the size of a call was compared with the room when this was prepared.
      let call = unsafe Call(setting: facts, at: memory.baseAddress.unsafelyUnwrapped)
      defer { call.finish() }
      unsafe store(tuple: tuple, in: call)
      call.setSelector(selector)
      try body(call)
    }
  }

  /// Lends a call whose arguments must be converted, or whose frame is large.
  @usableFromInline
  @inline(never)
  func withLargeCall<Answer, each Argument>(
    _ arguments: repeat each Argument, as selector: Selector, _ body: (Call) throws -> Answer
  ) throws -> Answer {
    try plan.withInvocation { call in
      var index = 0
      for argument in repeat each arguments {
        try call.call.setFitting(argument, self.arguments[index], at: index + 2)
        index += 1
      }
      call.call.setSelector(selector)
      return try body(call.call)
    }
  }
}
