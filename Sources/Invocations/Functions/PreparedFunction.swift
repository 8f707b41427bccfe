// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// The plan and the places of a function's calls with values of certain types, determined once.
@safe
@usableFromInline
package final class PreparedFunction: Sendable {
  let implementation: Implementation
  /// The types, as those of a ``TypedFunction``.
  @usableFromInline let types: ObjectIdentifier
  /// How the result is stored.
  @usableFromInline let result: Place
  /// How the arguments are stored.
  private let arguments: [Place]
  private let layout: TupleLayout?

  // SAFETY: the implementation retains the plan, which owns the facts. The layout, which is
  // retained here, owns the moves.
  @usableFromInline nonisolated(unsafe) let facts: UnsafePointer<FWDPlanFacts>
  @usableFromInline nonisolated(unsafe) let moves: UnsafePointer<FWDMove>?
  @usableFromInline let count: Int

  @usableFromInline let way: Way
  /// The code of a C function, and the body of a Swift closure.
  @usableFromInline nonisolated(unsafe) let code: UnsafeRawPointer?
  @usableFromInline let body: Implementation.Closure

  /// How the function is called.
  @usableFromInline
  enum Way: Sendable {
    /// With the tuple as an array: all values are `double`, or all are integer words.
    case doubles, words
    /// With a frame: all values are words without ownership.
    case frame
    /// With few words, and without a frame: strings are passed, or returned, as C strings.
    case lentWords
    /// With a frame of a C function: strings are lent as C strings, or the result is converted.
    case lent
    /// With a call, which owns values.
    case call
    /// With converted arguments, or a large frame.
    case conversion
  }

  /// The same function, prepared for other types.
  @usableFromInline let others = PreparedFunctions()

  /// Compares the types with the function's. A discarded result may have any type.
  init<Value, each Argument>(
    _ implementation: Implementation, as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws(InvocationError) {
    let plan = implementation.plan
    self.implementation = implementation
    types = ObjectIdentifier(type)
    let fits = plan.callSize <= MemoryLayout<FWDScopedFrame>.size
    if Value.self == DroppedResult.self {
      let fitted = try FittedPlan<Void, repeat each Argument>(function: plan, dropsResult: true)
      (result, arguments) = (fitted.result, fitted.arguments)
      layout = fits ? TupleLayout(fitted, onlyStores: true) : nil
    } else {
      let fitted = try FittedPlan<Value, repeat each Argument>(
        function: plan, dropsResult: false)
      (result, arguments) = (fitted.result, fitted.arguments)
      layout = fits ? TupleLayout(fitted, onlyStores: true) : nil
    }
    unsafe facts = plan.facts
    count = arguments.count
    unsafe code = implementation.function?.address
    body = implementation.body
    let way = Self.way(implementation, layout, result, returnsText: Value.self == String.self)
    self.way = way
    unsafe moves = way == .conversion ? nil : layout.map { unsafe UnsafePointer($0.moves) }
  }

  private static func way(
    _ implementation: Implementation, _ layout: TupleLayout?, _ result: Place,
    returnsText: Bool
  ) -> Way {
    guard let layout else { return .conversion }
    let plan = implementation.plan
    // A C method takes only objects of its class, and a call checks that.
    if implementation.function != nil, implementation.receiver != nil { return .call }
    let isWord: Bool
    switch result.content {
    case .word, .nothing: isWord = true
    case .object, .address, .text, .converted: isWord = false
    }
    // A result in memory has a hidden argument for its address, even if the result is discarded.
    let isInMemory = unsafe plan.result.pointee.route == .hiddenPointer
    guard isWord, !isInMemory, layout.isWords, unsafe plan.facts.pointee.is_light != 0 else {
      if !isInMemory, needsNoMoreThanFrame(implementation) {
        return areFewWords(implementation, layout) && (isWord || returnsText) ? .lentWords : .lent
      }
      return layout.lendsText ? .conversion : .call
    }
    guard implementation.function != nil, layout.areWhole else { return .frame }
    if areFewWords(implementation, layout) { return .words }
    guard plan.fixedArgumentCount == nil, layout.count <= Int(FWD_ARRAY_MAX) else { return .frame }
    let slots = unsafe UnsafeBufferPointer(start: plan.slots, count: layout.count)
    let areDoubles = unsafe slots.allSatisfy { $0.kind == .double }
    return unsafe areDoubles && plan.result.pointee.kind == .double ? .doubles : .frame
  }

  /// Whether the arguments are few, and they and the result are integers or addresses of a word.
  private static func areFewWords(
    _ implementation: Implementation, _ layout: TupleLayout
  ) -> Bool {
    let plan = implementation.plan
    guard plan.fixedArgumentCount == nil, layout.count <= Int(FWD_ARRAY_MAX) else { return false }
    let slots = unsafe UnsafeBufferPointer(start: plan.slots, count: layout.count)
    let returned = unsafe plan.result.pointee
    let isInteger = returned.route == .nowhere || returned.first == .integer
    return unsafe isInteger && slots.allSatisfy { $0.first == .integer }
  }

  /// Whether an implementation is a C function whose calls own nothing, and copy little to the
  /// stack. A C string that it returns stays its own.
  private static func needsNoMoreThanFrame(_ implementation: Implementation) -> Bool {
    let result = (unsafe implementation.plan.result.pointee.kind)
    guard unsafe implementation.plan.facts.pointee.stack_needed == 0 else { return false }
    return implementation.function != nil && (result.isCString || !result.isOwnable)
  }

  /// Calls the function with the tuple of arguments at an address.
  @inlinable @unsafe
  @inline(__always)
  func call<Answer, Value, each Argument>(
    _ tuple: UnsafeRawPointer, as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws -> Answer {
    // An if-chain with the fastest calls first, where a comparison costs relatively most. A switch
    // would not keep the order.
    if way == .doubles, Answer.self == Double.self, let code = unsafe code {
      // SAFETY: the registration of the function promised its type, which was compared.
      let array = unsafe tuple.assumingMemoryBound(to: Double.self)
      return unsafe unsafeBitCast(fwd_call_doubles(code, array, count), to: Answer.self)
    }
    if way == .words, let code = unsafe code {
      let array = unsafe tuple.assumingMemoryBound(to: UInt64.self)
      return unsafe answer(fwd_call_words(code, array, count))
    }
    guard let moves = unsafe moves else { return try unsafe callSlowly(tuple, as: type) }
    if way == .lentWords, let code = unsafe code {
      return try unsafe callLendingWords(code, tuple, moves, as: type)
    }
    if way == .lent, let code = unsafe code {
      return try unsafe callLending(code, tuple, moves, as: type)
    }
    return try unsafe way == .frame ? callByFrame(tuple, moves) : callWithCare(tuple, moves)
  }

  /// Converts a result that is a word.
  @inlinable @unsafe
  @inline(__always)
  func answer<Answer>(_ bits: UInt64) -> Answer {
    // Both types have one value and no size.
    if Answer.self == Void.self || Answer.self == NoResult.self {
      return unsafe unsafeBitCast((), to: Answer.self)
    }
    guard case .word(let word) = result.content, word != .uInt64 else {
      return unsafe withUnsafeBytes(of: bits) { unsafe $0.load(as: Answer.self) }
    }
    return unsafe withUnsafeTemporaryAllocation(of: Answer.self, capacity: 1) { memory in
      let base = unsafe memory.baseAddress.unsafelyUnwrapped
      unsafe fwd_word_narrow(word, bits, UnsafeMutableRawPointer(base))
      return unsafe base.move()
    }
  }

  /// Calls the function with words alone.
  @inlinable @unsafe
  func callByFrame<Answer>(
    _ tuple: UnsafeRawPointer, _ moves: UnsafePointer<FWDMove>
  ) throws -> Answer {
    // Aligned to 16 for every value that a frame may hold; the frame's type guarantees less.
    try unsafe withUnsafeTemporaryAllocation(
      byteCount: MemoryLayout<FWDScopedFrame>.size, alignment: 16
    ) { memory in
      let frame = unsafe memory.baseAddress.unsafelyUnwrapped
      // Registers that the function does not read may hold anything.
      unsafe fwd_tuple_store(moves, count, tuple, frame)
      if let code = unsafe code {
        // SAFETY: see `call`.
        unsafe fwd_call(facts, frame.assumingMemoryBound(to: FWDFrame.self), code)
      } else {
        try unsafe body(FrameReference(frame))
      }
      let offset = unsafe Int(fwd_facts_result(facts).pointee.offset)
      return unsafe answer(frame.load(fromByteOffset: offset, as: UInt64.self))
    }
  }

  /// Calls the function with a call that owns values, or that is not light.
  @inlinable @unsafe
  func callWithCare<Answer>(
    _ tuple: UnsafeRawPointer, _ moves: UnsafePointer<FWDMove>
  ) throws -> Answer {
    try unsafe withUnsafeTemporaryAllocation(
      byteCount: MemoryLayout<FWDScopedFrame>.size, alignment: 16
    ) { memory in
      // SAFETY: `init` compared the size of the call with this allocation.
      let call = unsafe Call(facts, at: memory.baseAddress.unsafelyUnwrapped)
      defer { call.finish() }
      unsafe fwd_tuple_store(moves, count, tuple, call.frame)
      try perform(call)
      return try call.takeFittingAnswer(as: Answer.self, result)
    }
  }

  @usableFromInline
  func perform(_ call: Call) throws {
    try call.checkReceiver(of: implementation)
    try call.perform(implementation)
  }

  /// Calls the function with arguments that must be converted, or whose frame is large.
  @usableFromInline @unsafe
  @inline(never)
  func callSlowly<Answer, Value, each Argument>(
    _ tuple: UnsafeRawPointer, as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws -> Answer {
    let values = unsafe tuple.assumingMemoryBound(to: (repeat each Argument).self).pointee
    return try implementation.plan.withInvocation { call in
      var index = 0
      for value in repeat each values {
        try call.call.setFitting(value, arguments[index], at: index)
        index += 1
      }
      try perform(call.call)
      return try call.call.fittingAnswer(as: Answer.self, result)
    }
  }
}
