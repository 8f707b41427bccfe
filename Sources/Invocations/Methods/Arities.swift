// SPDX-License-Identifier: Apache-2.0
// Closures with few arguments, by a function for each number of them: a parameter pack is walked at
// run time, which takes longer than entering the closure.

// MARK: Methods

// Each argument is passed in place, borrowed. Closures with other numbers of arguments, or with
// arguments that must be converted, get copies.
extension MethodRegistry {
  @inlinable
  func register<Receiver: AnyObject, Value, each Argument>(
    _ selector: Selector, _ replacing: Bool, _ encoding: String?,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Value,
    lending: (LentPlaces) -> Implementation.Closure
  ) throws(Failure) {
    try register(selector, for: Receiver.self, replacing: replacing) {
      () throws(InvocationError) in
      try Implementation(encoding, receiver: Receiver.self) {
        (fitted: FittedPlan<Value, repeat each Argument>) in
        // A closure that goes through `map` or `??` is wrapped twice, for each call.
        guard let places = LentPlaces(fitted, receiver: Receiver.self) else {
          return unsafe (SwiftBody.returning(fitted, method: body), nil)
        }
        return (lending(places), nil)
      }
    }
  }

  /// Registers a method with one argument, over any types.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  @inlinable
  public func register<Receiver: AnyObject, Value, A>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A) throws -> Value
  ) throws(Failure) {
    try register(selector, replacing, encoding, body) { places in
      { frame in
        let areUsual =
          unsafe places.a.isUsual(as: A.self, in: frame)
        try unsafe places.answer(frame, areUsual: areUsual) { (receiver: Receiver) in
          try unsafe LentPlaces.call(
            receiver, places.a.pointer(as: A.self, in: frame), body)
        }
      }
    }
  }

  /// Registers a method with two arguments, over any types.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  @inlinable
  public func register<Receiver: AnyObject, Value, A, B>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B) throws -> Value
  ) throws(Failure) {
    try register(selector, replacing, encoding, body) { places in
      { frame in
        let areUsual =
          unsafe places.a.isUsual(as: A.self, in: frame)
          && places.b.isUsual(as: B.self, in: frame)
        try unsafe places.answer(frame, areUsual: areUsual) { (receiver: Receiver) in
          try unsafe LentPlaces.call(
            receiver, places.a.pointer(as: A.self, in: frame),
            places.b.pointer(as: B.self, in: frame), body)
        }
      }
    }
  }

  /// Registers a method with three arguments, over any types.
  ///
  /// - Throws: ``MethodRegistry/Failure`` if the method cannot be made or registered.
  @inlinable
  public func register<Receiver: AnyObject, Value, A, B, C>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, A, B, C) throws -> Value
  ) throws(Failure) {
    try register(selector, replacing, encoding, body) { places in
      { frame in
        let areUsual =
          unsafe places.a.isUsual(as: A.self, in: frame)
          && places.b.isUsual(as: B.self, in: frame)
          && places.c.isUsual(as: C.self, in: frame)
        try unsafe places.answer(frame, areUsual: areUsual) { (receiver: Receiver) in
          try unsafe LentPlaces.call(
            receiver, places.a.pointer(as: A.self, in: frame),
            places.b.pointer(as: B.self, in: frame),
            places.c.pointer(as: C.self, in: frame), body)
        }
      }
    }
  }
}

// These take types that need not be copyable, which are borrowed; copyable ones would be copied to
// be passed on.
extension LentPlaces {
  @inlinable @unsafe
  @inline(__always)
  static func call<Receiver: AnyObject, Value, A: ~Copyable>(
    _ receiver: Receiver, _ a: UnsafePointer<A>,
    _ body: (Receiver, borrowing A) throws -> Value
  ) throws -> Value {
    try unsafe body(receiver, a.pointee)
  }

  @inlinable @unsafe
  @inline(__always)
  static func call<Receiver: AnyObject, Value, A: ~Copyable, B: ~Copyable>(
    _ receiver: Receiver, _ a: UnsafePointer<A>, _ b: UnsafePointer<B>,
    _ body: (Receiver, borrowing A, borrowing B) throws -> Value
  ) throws -> Value {
    try unsafe body(receiver, a.pointee, b.pointee)
  }

  @inlinable @unsafe
  @inline(__always)
  static func call<Receiver: AnyObject, Value, A: ~Copyable, B: ~Copyable, C: ~Copyable>(
    _ receiver: Receiver, _ a: UnsafePointer<A>, _ b: UnsafePointer<B>, _ c: UnsafePointer<C>,
    _ body: (Receiver, borrowing A, borrowing B, borrowing C) throws -> Value
  ) throws -> Value {
    try unsafe body(receiver, a.pointee, b.pointee, c.pointee)
  }
}

// MARK: Callbacks

// Arguments in registers, if they are there; other closures are answered from frames.
extension Callback {
  /// Makes a callback with one argument.
  ///
  /// - Throws: The errors of the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A>(function: encoding)
    let fit = CallbackFit(fitted)
    try self.init(fitted, SwiftBody.returning(fitted, body), onError, fit) {
      integers, vectors throws in
      var registers = CallbackRegisters(integers, vectors, fit)
      return registers.returning(
        try body(registers.next()))
    }
  }

  /// Makes a callback with one argument and without a result.
  ///
  /// - Throws: The errors of the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A) throws -> Void
  ) throws(InvocationError) {
    try self.init(encoding: encoding, onError: onError) { (a: A) in
      try body(a)
      return NoResult()
    }
  }

  /// Makes a callback with two arguments.
  ///
  /// - Throws: The errors of the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue, B: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B>(function: encoding)
    let fit = CallbackFit(fitted)
    try self.init(fitted, SwiftBody.returning(fitted, body), onError, fit) {
      integers, vectors throws in
      var registers = CallbackRegisters(integers, vectors, fit)
      return registers.returning(
        try body(registers.next(), registers.next()))
    }
  }

  /// Makes a callback with two arguments and without a result.
  ///
  /// - Throws: The errors of the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue, B: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B) throws -> Void
  ) throws(InvocationError) {
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B) in
      try body(a, b)
      return NoResult()
    }
  }

  /// Makes a callback with three arguments.
  ///
  /// - Throws: The errors of the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue, B: CallValue, C: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B, C) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B, C>(function: encoding)
    let fit = CallbackFit(fitted)
    try self.init(fitted, SwiftBody.returning(fitted, body), onError, fit) {
      integers, vectors throws in
      var registers = CallbackRegisters(integers, vectors, fit)
      return registers.returning(
        try body(registers.next(), registers.next(), registers.next()))
    }
  }

  /// Makes a callback with three arguments and without a result.
  ///
  /// - Throws: The errors of the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue, B: CallValue, C: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B, C) throws -> Void
  ) throws(InvocationError) {
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B, c: C) in
      try body(a, b, c)
      return NoResult()
    }
  }

  /// Makes a callback with four arguments.
  ///
  /// - Throws: The errors of the initializer for any number of arguments.
  @inlinable
  public convenience init<Value: CallValue, A: CallValue, B: CallValue, C: CallValue, D: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B, C, D) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B, C, D>(function: encoding)
    let fit = CallbackFit(fitted)
    try self.init(fitted, SwiftBody.returning(fitted, body), onError, fit) {
      integers, vectors throws in
      var registers = CallbackRegisters(integers, vectors, fit)
      return registers.returning(
        try body(registers.next(), registers.next(), registers.next(), registers.next()))
    }
  }

  /// Makes a callback with four arguments and without a result.
  ///
  /// - Throws: The errors of the initializer for any number of arguments.
  @inlinable
  public convenience init<A: CallValue, B: CallValue, C: CallValue, D: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (A, B, C, D) throws -> Void
  ) throws(InvocationError) {
    try self.init(encoding: encoding, onError: onError) { (a: A, b: B, c: C, d: D) in
      try body(a, b, c, d)
      return NoResult()
    }
  }
}
