// SPDX-License-Identifier: Apache-2.0

// Callbacks of closures that are not `Sendable`, which C calls where they were made.

extension Callback {
  /// Makes a callback of a closure that C calls on the thread that makes it or, if an actor makes it, on
  /// that actor: the closure need not be `Sendable`. A call elsewhere ends the program with a sentence.
  ///
  /// - Throws: The same errors as the initializer for `Sendable` closures.
  /// - Safety: the closure is released where the callback is, on any thread. If that is elsewhere, the
  ///   deinitializers of what it captures must not mind.
  @inlinable @unsafe
  public convenience init<Value: CallValue, A: CallValue>(
    isolation: isolated (any Actor)? = #isolation,
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    onlyHere body: @escaping (A) throws -> Value
  ) throws(InvocationError) {
    let home = CallbackHome(isolation)
    nonisolated(unsafe) let body = body
    try self.init(encoding: encoding, onError: onError) { (a: A) throws -> Value in
      home.check()
      return try unsafe body(a)
    }
  }

  /// Makes a callback of a closure that C calls on this thread or actor.
  ///
  /// - Throws: The same errors as the initializer for `Sendable` closures.
  /// - Safety: the closure may be released on any thread.
  @inlinable @unsafe
  public convenience init<A: CallValue>(
    isolation: isolated (any Actor)? = #isolation,
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    onlyHere body: @escaping (A) throws -> Void
  ) throws(InvocationError) {
    let home = CallbackHome(isolation)
    nonisolated(unsafe) let body = body
    try self.init(encoding: encoding, onError: onError) { (a: A) throws -> Void in
      home.check()
      return try unsafe body(a)
    }
  }

  /// Makes a callback of a closure that C calls on this thread or actor.
  ///
  /// - Throws: The same errors as the initializer for `Sendable` closures.
  /// - Safety: the closure may be released on any thread.
  @inlinable @unsafe
  public convenience init<Value: CallValue, A: CallValue, B: CallValue>(
    isolation: isolated (any Actor)? = #isolation,
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    onlyHere body: @escaping (A, B) throws -> Value
  ) throws(InvocationError) {
    let home = CallbackHome(isolation)
    nonisolated(unsafe) let body = body
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B) throws -> Value in
      home.check()
      return try unsafe body(a, b)
    }
  }

  /// Makes a callback of a closure that C calls on this thread or actor.
  ///
  /// - Throws: The same errors as the initializer for `Sendable` closures.
  /// - Safety: the closure may be released on any thread.
  @inlinable @unsafe
  public convenience init<A: CallValue, B: CallValue>(
    isolation: isolated (any Actor)? = #isolation,
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    onlyHere body: @escaping (A, B) throws -> Void
  ) throws(InvocationError) {
    let home = CallbackHome(isolation)
    nonisolated(unsafe) let body = body
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B) throws -> Void in
      home.check()
      return try unsafe body(a, b)
    }
  }

  /// Makes a callback of a closure that C calls on this thread or actor.
  ///
  /// - Throws: The same errors as the initializer for `Sendable` closures.
  /// - Safety: the closure may be released on any thread.
  @inlinable @unsafe
  public convenience init<Value: CallValue, A: CallValue, B: CallValue, C: CallValue>(
    isolation: isolated (any Actor)? = #isolation,
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    onlyHere body: @escaping (A, B, C) throws -> Value
  ) throws(InvocationError) {
    let home = CallbackHome(isolation)
    nonisolated(unsafe) let body = body
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B, c: C) throws -> Value in
      home.check()
      return try unsafe body(a, b, c)
    }
  }

  /// Makes a callback of a closure that C calls on this thread or actor.
  ///
  /// - Throws: The same errors as the initializer for `Sendable` closures.
  /// - Safety: the closure may be released on any thread.
  @inlinable @unsafe
  public convenience init<A: CallValue, B: CallValue, C: CallValue>(
    isolation: isolated (any Actor)? = #isolation,
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    onlyHere body: @escaping (A, B, C) throws -> Void
  ) throws(InvocationError) {
    let home = CallbackHome(isolation)
    nonisolated(unsafe) let body = body
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B, c: C) throws -> Void in
      home.check()
      return try unsafe body(a, b, c)
    }
  }

  /// Makes a callback of a closure that C calls on this thread or actor.
  ///
  /// - Throws: The same errors as the initializer for `Sendable` closures.
  /// - Safety: the closure may be released on any thread.
  @inlinable @unsafe
  public convenience init<Value: CallValue, A: CallValue, B: CallValue, C: CallValue, D: CallValue>(
    isolation: isolated (any Actor)? = #isolation,
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    onlyHere body: @escaping (A, B, C, D) throws -> Value
  ) throws(InvocationError) {
    let home = CallbackHome(isolation)
    nonisolated(unsafe) let body = body
    try self.init(encoding: encoding, onError: onError) {
      (a: A, b: B, c: C, d: D) throws -> Value in
      home.check()
      return try unsafe body(a, b, c, d)
    }
  }

  /// Makes a callback of a closure that C calls on this thread or actor.
  ///
  /// - Throws: The same errors as the initializer for `Sendable` closures.
  /// - Safety: the closure may be released on any thread.
  @inlinable @unsafe
  public convenience init<A: CallValue, B: CallValue, C: CallValue, D: CallValue>(
    isolation: isolated (any Actor)? = #isolation,
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    onlyHere body: @escaping (A, B, C, D) throws -> Void
  ) throws(InvocationError) {
    let home = CallbackHome(isolation)
    nonisolated(unsafe) let body = body
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B, c: C, d: D) throws -> Void in
      home.check()
      return try unsafe body(a, b, c, d)
    }
  }

  /// Makes a callback of a closure that C calls on this thread or actor.
  ///
  /// - Throws: The same errors as the initializer for `Sendable` closures.
  /// - Safety: the closure may be released on any thread.
  @inlinable @unsafe
  public convenience init<Value: CallValue, each Argument: CallValue>(
    isolation: isolated (any Actor)? = #isolation,
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    onlyHere body: @escaping (repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let home = CallbackHome(isolation)
    nonisolated(unsafe) let body = body
    try self.init(encoding: encoding, onError: onError) {
      (arguments: repeat each Argument) throws -> Value in
      home.check()
      return try unsafe body(repeat each arguments)
    }
  }

  /// Makes a callback of a closure that C calls on this thread or actor.
  ///
  /// - Throws: The same errors as the initializer for `Sendable` closures.
  /// - Safety: the closure may be released on any thread.
  @inlinable @unsafe
  public convenience init<each Argument: CallValue>(
    isolation: isolated (any Actor)? = #isolation,
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    onlyHere body: @escaping (repeat each Argument) throws -> Void
  ) throws(InvocationError) {
    let home = CallbackHome(isolation)
    nonisolated(unsafe) let body = body
    try self.init(encoding: encoding, onError: onError) {
      (arguments: repeat each Argument) throws -> Void in
      home.check()
      return try unsafe body(repeat each arguments)
    }
  }
}
