// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

import Glibc

/// A function and the places of its calls with values of certain types, determined once.
///
/// There are two ways to call it. A C function of a few `double`s, or of a few words, is called with
/// them alone, as a frame would take longer than many functions; texts are lent to it as C strings.
/// Any other function is called by an invocation.
@safe
@usableFromInline
package final class PreparedFunction: Sendable {
  let implementation: Implementation
  /// The types, as those of a ``TypedFunction``.
  @usableFromInline let types: ObjectIdentifier
  @usableFromInline let result: Place
  private let arguments: [Place]
  @usableFromInline let layout: TupleLayout?

  /// The code of a C function that is called with words or `double`s alone.
  // SAFETY: the implementation, which is retained, keeps it.
  @usableFromInline nonisolated(unsafe) let code: UnsafeRawPointer?
  @usableFromInline let count: Int
  /// The result's place in a word.
  @usableFromInline let returned: FWDSlot

  /// Compares the types with the function's. `Void` drops a result of any type.
  init<Value, each Argument>(
    _ name: String, _ implementation: Implementation,
    as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws(InvocationError) {
    let plan = implementation.plan
    self.implementation = implementation
    types = ObjectIdentifier(type)
    count = plan.argumentCount
    let fitted = try FunctionTable.naming(name) { () throws(InvocationError) in
      try FittedPlan<Value, repeat each Argument>(function: plan)
    }
    (result, arguments) = (fitted.result, fitted.arguments)
    layout = TupleLayout(fitted, onlyStores: true)
    var returned = unsafe plan.result.pointee
    returned.offset = 0
    self.returned = returned
    let isFew = layout != nil && Self.takesFewRegisters(implementation, Value.self == Double.self)
    unsafe code = isFew ? implementation.function?.address : nil
  }

  /// Whether the arguments and the result of a C function are a few `double`s, or a few words that
  /// nobody has to release.
  private static func takesFewRegisters(
    _ implementation: Implementation, _ areDoubles: Bool
  ) -> Bool {
    let plan = implementation.plan
    // A C method takes only objects of its class, and an invocation checks that.
    guard implementation.receiver == nil, plan.fixedArgumentCount == nil,
      plan.argumentCount <= Int(FWD_ARRAY_MAX)
    else { return false }
    let slots = unsafe UnsafeBufferPointer(start: plan.slots, count: plan.argumentCount)
    let returned = unsafe plan.result.pointee
    let kind = returned.kind
    if areDoubles {
      return unsafe kind == .double && slots.allSatisfy { $0.kind == .double }
    }
    return unsafe (kind.isCString || !kind.isOwnable) && kind != .aggregate
      && (returned.route == .nowhere || returned.first == .integer && returned.size <= 8)
      && slots.allSatisfy { $0.first == .integer }
  }

  /// Calls the function with the tuple of arguments at an address.
  @inlinable @unsafe
  @inline(__always)
  func call<Answer, Value, each Argument>(
    _ tuple: UnsafeRawPointer, as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws -> Answer {
    guard let code = unsafe code else { return try unsafe callByInvocation(tuple, as: type) }
    // SAFETY: the registration of the function promised its type, which was compared.
    if Answer.self == Double.self {
      let array = unsafe tuple.assumingMemoryBound(to: Double.self)
      return unsafe unsafeBitCast(fwd_call_doubles(code, array, count), to: Answer.self)
    }
    return try unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Int(FWD_ARRAY_MAX)) {
      try unsafe callByWords(code, tuple, $0.baseAddress.unsafelyUnwrapped, from: 0)
    }
  }

  /// Stores the arguments from an index on as words, and calls the function. Its result may point into
  /// an argument, so it is read while the texts are lent.
  @inlinable @unsafe
  @inline(never)
  func callByWords<Answer>(
    _ code: UnsafeRawPointer, _ tuple: UnsafeRawPointer, _ words: UnsafeMutablePointer<UInt64>,
    from first: Int
  ) throws -> Answer {
    for index in first..<count {
      // SAFETY: `init` made the layout, and compared the types of the tuple with it.
      let move = unsafe layout.unsafelyUnwrapped.moves[index]
      let value = unsafe tuple + Int(move.tuple)
      if move.word == .cString,
        let text = unsafe value.assumingMemoryBound(to: String?.self).pointee
      {
        return try unsafe text.withCString { bytes in
          try unsafe Self.checkEnd(bytes, text.utf8.count)
          unsafe words[index] = UInt64(UInt(bitPattern: bytes))
          return try unsafe callByWords(code, tuple, words, from: index + 1)
        }
      }
      unsafe words[index] = unsafe fwd_word_widen(move.word, value)
    }
    var bits = unsafe fwd_call_words(code, words, count)
    return try unsafe withUnsafePointer(to: returned) { slot in
      try unsafe withUnsafeMutableBytes(of: &bits) { frame in
        try unsafe result.load(
          as: Answer.self,
          from: ValueSlot(slot: slot, frame: frame.baseAddress.unsafelyUnwrapped, index: nil))
      }
    }
  }

  /// Throws if a text has a NUL before its end.
  @usableFromInline @unsafe
  static func checkEnd(_ bytes: UnsafePointer<CChar>, _ count: Int) throws(InvocationError) {
    let length = unsafe strlen(bytes)
    if length != count { throw .embeddedNUL(offset: length) }
  }

  /// Calls any function with any values.
  @usableFromInline @unsafe
  @inline(never)
  func callByInvocation<Answer, Value, each Argument>(
    _ tuple: UnsafeRawPointer, as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws -> Answer {
    let values = unsafe tuple.assumingMemoryBound(to: (repeat each Argument).self).pointee
    return try implementation.plan.withCall { call in
      var index = 0
      for value in repeat each values {
        try call.setFitting(value, arguments[index], at: index)
        index += 1
      }
      try implementation.checkReceiver(call.slot(0).object)
      try call.perform(implementation)
      return try call.fittingAnswer(as: Answer.self, result)
    }
  }
}
