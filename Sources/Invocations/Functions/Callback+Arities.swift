// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
public import TypeEncodings

// Callbacks with up to three arguments, with one initializer for each number of them. The closure
// reads each argument from the saved registers. A parameter pack is walked at run time, which takes
// longer than entering the callback.

extension Callback {
  /// Makes a callback with one argument.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A>(function: encoding)
    if Value.ownership != .none { throw .ownedResultInCallback(fitted.plan.signature.resultType) }
    try self.init(fitted.plan, CallbackBody.returning(fitted, body), onError)
  }

  /// Makes a callback with one argument and without a result.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A) throws -> Void
  ) throws(InvocationError) {
    let fitted = try FittedPlan<NoResult, A>(function: encoding)
    try self.init(fitted.plan, CallbackBody.void(fitted, body), onError)
  }

  /// Makes a callback with two arguments.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue, B: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B>(function: encoding)
    if Value.ownership != .none { throw .ownedResultInCallback(fitted.plan.signature.resultType) }
    try self.init(fitted.plan, CallbackBody.returning(fitted, body), onError)
  }

  /// Makes a callback with two arguments and without a result.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue, B: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B) throws -> Void
  ) throws(InvocationError) {
    let fitted = try FittedPlan<NoResult, A, B>(function: encoding)
    try self.init(fitted.plan, CallbackBody.void(fitted, body), onError)
  }

  /// Makes a callback with three arguments.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue, B: CallValue, C: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B, C) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B, C>(function: encoding)
    if Value.ownership != .none { throw .ownedResultInCallback(fitted.plan.signature.resultType) }
    try self.init(fitted.plan, CallbackBody.returning(fitted, body), onError)
  }

  /// Makes a callback with three arguments and without a result.
  ///
  /// - Throws: The same errors as the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue, B: CallValue, C: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B, C) throws -> Void
  ) throws(InvocationError) {
    let fitted = try FittedPlan<NoResult, A, B, C>(function: encoding)
    try self.init(fitted.plan, CallbackBody.void(fitted, body), onError)
  }
}

/// The frame offsets of up to three arguments whose values are the low bytes of their words.
/// Reading nothing else saves a third of a callback's instructions.
@safe
@usableFromInline
@frozen
struct CallbackWords: Sendable {
  @usableFromInline let offsets: (UInt32, UInt32, UInt32)

  /// Returns nil for any other argument, such as a `Bool`, for which C may store any byte.
  @usableFromInline
  init?<Value, each Argument>(_ fitted: FittedPlan<Value, repeat each Argument>) {
    var found: [UInt32] = []
    for (index, place) in fitted.arguments.enumerated() {
      let slot = unsafe fitted.plan.slots[fitted.first + index]
      guard case .word(let word) = place.way, word != .bool, slot.kind == slot.declared else {
        return nil
      }
      found.append(slot.offset)
    }
    func offset(_ index: Int) -> UInt32 { index < found.count ? found[index] : 0 }
    offsets = (offset(0), offset(1), offset(2))
  }

  // SAFETY (all): the type was compared with the place, and every bit pattern is a valid value of
  // it.

  @inlinable @unsafe
  @inline(__always)
  func a<Value>(as type: Value.Type, in frame: FrameReference) -> Value {
    unsafe (frame.base + Int(offsets.0)).assumingMemoryBound(to: Value.self).pointee
  }

  @inlinable @unsafe
  @inline(__always)
  func b<Value>(as type: Value.Type, in frame: FrameReference) -> Value {
    unsafe (frame.base + Int(offsets.1)).assumingMemoryBound(to: Value.self).pointee
  }

  @inlinable @unsafe
  @inline(__always)
  func c<Value>(as type: Value.Type, in frame: FrameReference) -> Value {
    unsafe (frame.base + Int(offsets.2)).assumingMemoryBound(to: Value.self).pointee
  }
}

/// Bodies of callbacks that read their arguments in place. If an argument is not the low bytes of
/// its word, the general body is used.
@usableFromInline
enum CallbackBody {
  /// A body with one argument and a result.
  @inlinable
  static func returning<Value: CallValue, A: CallValue>(
    _ fitted: FittedPlan<Value, A>, _ body: @escaping @Sendable (A) throws -> Value
  ) -> Implementation.Closure {
    guard let words = CallbackWords(fitted) else { return SwiftBody.returning(fitted, body) }
    let plan = fitted.plan
    return { frame in
      let value = try body(
        unsafe words.a(as: A.self, in: frame))
      try unsafe value.store(in: frame.result(of: plan))
    }
  }

  /// A body with one argument and without a result.
  @inlinable
  static func void<A: CallValue>(
    _ fitted: FittedPlan<NoResult, A>, _ body: @escaping @Sendable (A) throws -> Void
  ) -> Implementation.Closure {
    guard let words = CallbackWords(fitted) else { return SwiftBody.void(fitted, body) }
    return { frame in
      try body(
        unsafe words.a(as: A.self, in: frame))
    }
  }

  /// A body with two arguments and a result.
  @inlinable
  static func returning<Value: CallValue, A: CallValue, B: CallValue>(
    _ fitted: FittedPlan<Value, A, B>, _ body: @escaping @Sendable (A, B) throws -> Value
  ) -> Implementation.Closure {
    guard let words = CallbackWords(fitted) else { return SwiftBody.returning(fitted, body) }
    let plan = fitted.plan
    return { frame in
      let value = try body(
        unsafe words.a(as: A.self, in: frame),
        unsafe words.b(as: B.self, in: frame))
      try unsafe value.store(in: frame.result(of: plan))
    }
  }

  /// A body with two arguments and without a result.
  @inlinable
  static func void<A: CallValue, B: CallValue>(
    _ fitted: FittedPlan<NoResult, A, B>, _ body: @escaping @Sendable (A, B) throws -> Void
  ) -> Implementation.Closure {
    guard let words = CallbackWords(fitted) else { return SwiftBody.void(fitted, body) }
    return { frame in
      try body(
        unsafe words.a(as: A.self, in: frame),
        unsafe words.b(as: B.self, in: frame))
    }
  }

  /// A body with three arguments and a result.
  @inlinable
  static func returning<Value: CallValue, A: CallValue, B: CallValue, C: CallValue>(
    _ fitted: FittedPlan<Value, A, B, C>, _ body: @escaping @Sendable (A, B, C) throws -> Value
  ) -> Implementation.Closure {
    guard let words = CallbackWords(fitted) else { return SwiftBody.returning(fitted, body) }
    let plan = fitted.plan
    return { frame in
      let value = try body(
        unsafe words.a(as: A.self, in: frame),
        unsafe words.b(as: B.self, in: frame),
        unsafe words.c(as: C.self, in: frame))
      try unsafe value.store(in: frame.result(of: plan))
    }
  }

  /// A body with three arguments and without a result.
  @inlinable
  static func void<A: CallValue, B: CallValue, C: CallValue>(
    _ fitted: FittedPlan<NoResult, A, B, C>, _ body: @escaping @Sendable (A, B, C) throws -> Void
  ) -> Implementation.Closure {
    guard let words = CallbackWords(fitted) else { return SwiftBody.void(fitted, body) }
    return { frame in
      try body(
        unsafe words.a(as: A.self, in: frame),
        unsafe words.b(as: B.self, in: frame),
        unsafe words.c(as: C.self, in: frame))
    }
  }
}
