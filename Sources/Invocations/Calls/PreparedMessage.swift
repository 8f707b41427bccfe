// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// The plan and the places of a typed message, determined once. One object, so that a send retains
/// nothing else.
@safe
@usableFromInline
package final class PreparedMessage: Sendable {
  /// The prepared call.
  @usableFromInline package let plan: CallPlan
  /// How the result is stored.
  @usableFromInline package let result: Place
  /// How the arguments travel.
  let arguments: [Place]

  // SAFETY: `plan` owns the facts and `layout` the moves, and this object retains both.
  @usableFromInline nonisolated(unsafe) let facts: UnsafePointer<FWDPlanFacts>
  @usableFromInline nonisolated(unsafe) let moves: UnsafePointer<FWDMove>?
  @usableFromInline let count: Int
  /// The number of arguments if all of them are whole words, else 0.
  @usableFromInline let wholeWords: Int
  private let layout: TupleLayout?

  /// Prepares messages of a plan that fits the types.
  package init<Result, each Argument>(_ fitted: FittedPlan<Result, repeat each Argument>) {
    plan = fitted.plan
    result = fitted.result
    arguments = fitted.arguments
    // Calls that are too large for the stack, or whose values are converted, are made by the plan.
    let fits = plan.callSize <= MemoryLayout<FWDScopedFrame>.size
    layout = fits ? TupleLayout(fitted) : nil
    unsafe facts = plan.facts
    unsafe moves = layout.map { unsafe UnsafePointer($0.moves) }
    count = arguments.count
    wholeWords = layout.map { $0.areWhole ? $0.count : 0 } ?? 0
  }

  /// Records the message with its arguments.
  ///
  /// - Throws: ``InvocationError`` if an argument cannot be stored.
  @usableFromInline
  package func record<each Argument>(
    _ arguments: repeat each Argument, as selector: Selector
  ) throws(InvocationError) -> Invocation {
    let invocation = Invocation(plan, comparedSelector: selector)
    try set(repeat each arguments, in: invocation.call)
    return invocation
  }

  private func set<each Argument>(
    _ arguments: repeat each Argument, in call: Call
  ) throws(InvocationError) {
    var index = 0
    for argument in repeat each arguments {
      try call.setFitting(argument, self.arguments[index], at: index + 2)
      index += 1
    }
  }

  /// The arguments of an invocation of this message, of the types that the message was made with.
  ///
  /// - Throws: ``InvocationError`` if an argument is missing, or has another type.
  package func arguments<each Argument>(
    of invocation: Invocation, as types: repeat (each Argument).Type
  ) throws(InvocationError) -> (repeat each Argument) {
    guard invocation.plan === plan else {
      // The sender's message has other types, which may fit as well.
      var index = 1
      func next<Value>(_ type: Value.Type) throws(InvocationError) -> Value {
        index += 1
        return try invocation.argument(at: index, as: type)
      }
      return (repeat try next((each Argument).self))
    }
    var places = unsafe PlaceCursor(plan, arguments, FrameReference(invocation.call.frame))
    return (repeat try places.next((each Argument).self))
  }
}

// Sends that lend their arguments to the targets. The argument types are those of the message. The
// arguments were copied into a tuple, which the compiler lays out in a few stores; it walks a
// parameter pack at run time.
extension PreparedMessage {
  /// Sends a message.
  @inlinable
  @inline(__always)
  package func send<Answer, each Argument>(
    tuple arguments: (repeat each Argument), as selector: Selector, to target: AnyObject?
  ) throws -> Answer {
    @inline(__always)
    func answer(_ call: Call) throws -> Answer {
      try call.send(compared: selector, to: target)
      return try call.takeFittingAnswer(as: Answer.self, result)
    }
    guard unsafe moves != nil else {
      return try withLargeCall(repeat each arguments, lentTo: answer)
    }
    return try unsafe withUnsafePointer(to: arguments) {
      try unsafe lend($0, owning: Answer.self, answer)
    }
  }

  /// Sends a message through a proxy. Returns nil if there is no answer.
  @inlinable
  @inline(__always)
  package func send<Answer, each Argument>(
    tuple arguments: (repeat each Argument), as selector: Selector,
    through delivery: inout ProxyDelivery
  ) throws -> Answer? {
    @inline(__always)
    func answer(_ call: Call) throws -> Answer? {
      guard try delivery.send(call, selector) else { return nil }
      return try call.takeFittingAnswer(as: Answer.self, result)
    }
    guard unsafe moves != nil else {
      return try withLargeCall(repeat each arguments, lentTo: answer)
    }
    return try unsafe withUnsafePointer(to: arguments) {
      try unsafe lend($0, owning: Answer.self, answer)
    }
  }

  /// Lends a call that `body` has to itself: to take several answers out of it.
  @inlinable
  @inline(__always)
  package func withCall<each Argument>(
    tuple arguments: (repeat each Argument), as selector: Selector, _ body: (Call) throws -> Void
  ) throws {
    @inline(__always)
    func lendSelected(_ call: Call) throws {
      call.setSelector(selector)
      try body(call)
    }
    guard unsafe moves != nil else {
      return try withLargeCall(repeat each arguments, lentTo: lendSelected)
    }
    try unsafe withUnsafePointer(to: arguments) {
      try unsafe lend($0, owning: Call.self, lendSelected)
    }
  }

  /// Lends a call on the stack to `body`, with the arguments of a tuple. They are borrowed, so that
  /// only a result may be owned.
  @inlinable @unsafe
  @inline(__always)
  func lend<Owned, Answer>(
    _ tuple: UnsafeRawPointer, owning type: Owned.Type, _ body: (Call) throws -> Answer
  ) throws -> Answer {
    // Aligned to 16 for every value that a frame may hold; the frame's type guarantees less.
    try unsafe withUnsafeTemporaryAllocation(
      byteCount: MemoryLayout<FWDScopedFrame>.size, alignment: 16
    ) { memory in
      // SAFETY: `init` compared the size of the call with this allocation.
      let call = unsafe Call(setting: facts, at: memory.baseAddress.unsafelyUnwrapped)
      defer { if type != NoResult.self, type != Void.self { call.finish() } }
      unsafe store(tuple: tuple, in: call)
      return try body(call)
    }
  }

  /// Writes the arguments of a tuple into a frame.
  @inlinable @unsafe
  @inline(__always)
  func store(tuple: UnsafeRawPointer, in call: Call) {
    guard let moves = unsafe moves else { return }
    // The most common arguments are stored without a function call, after which values would have
    // to be reloaded.
    if wholeWords > 0 {
      unsafe fwd_tuple_store_whole(moves, wholeWords, tuple, call.frame)
    } else {
      unsafe fwd_tuple_store(moves, count, tuple, call.frame)
    }
  }

  /// Lends a call whose arguments must be converted, or whose frame is large.
  @usableFromInline
  @inline(never)
  func withLargeCall<Answer, each Argument>(
    _ arguments: repeat each Argument, lentTo body: (Call) throws -> Answer
  ) throws -> Answer {
    try plan.withCall { call in
      try set(repeat each arguments, in: call)
      return try body(call)
    }
  }
}
