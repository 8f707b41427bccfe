public import CForwardingShims

/// Turns methods over any types into bodies that hand on each argument as it lies there, lent, once for
/// each number of arguments: closure, arguments and result become one function that reads the frame.
///
/// Where an argument cannot be lent, `AnyBody` copies.
@usableFromInline
enum LentBody {
  // A type that need not be copyable is borrowed, where a copyable one would be copied to be passed on.

  /// A body of no arguments.
  @inlinable @unsafe
  static func of<Receiver: AnyObject, Value>(
    _ fitted: FittedPlan<Value>,
    _ body: @escaping (Receiver) throws -> Value
  ) -> Implementation.Closure {
    let plan = fitted.plan
    let result = fitted.result
    let type = ObjectIdentifier(Receiver.self)
    nonisolated(unsafe) let slots = unsafe plan.slots
    nonisolated(unsafe) let body = body
    return { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try unsafe body(receiver)
      }
      if Value.self != Void.self { try unsafe result.store(value, in: frame.result(of: plan)) }
    }
  }

  /// A body of one argument.
  @inlinable @unsafe
  static func of<Receiver: AnyObject, Value, A>(
    _ fitted: FittedPlan<Value, A>,
    _ body: @escaping (Receiver, A) throws -> Value
  ) -> Implementation.Closure {
    guard let places = fitted.lent else {
      return unsafe AnyBody.returning(fitted, method: body)
    }
    let a = places[0]
    let plan = fitted.plan
    let result = fitted.result
    let type = ObjectIdentifier(Receiver.self)
    nonisolated(unsafe) let slots = unsafe plan.slots
    nonisolated(unsafe) let body = body
    return { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try unsafe call(
          receiver,
          unsafe a.pointer(as: A.self, in: frame), body)
      }
      if Value.self != Void.self { try unsafe result.store(value, in: frame.result(of: plan)) }
    }
  }

  @inlinable @unsafe
  @inline(__always)
  static func call<Receiver: AnyObject, Value, A: ~Copyable>(
    _ receiver: Receiver, _ a: UnsafePointer<A>,
    _ body: (Receiver, borrowing A) throws -> Value
  ) throws -> Value {
    try unsafe body(receiver, a.pointee)
  }

  /// A body of two arguments.
  @inlinable @unsafe
  static func of<Receiver: AnyObject, Value, A, B>(
    _ fitted: FittedPlan<Value, A, B>,
    _ body: @escaping (Receiver, A, B) throws -> Value
  ) -> Implementation.Closure {
    guard let places = fitted.lent else {
      return unsafe AnyBody.returning(fitted, method: body)
    }
    let (a, b) = (places[0], places[1])
    let plan = fitted.plan
    let result = fitted.result
    let type = ObjectIdentifier(Receiver.self)
    nonisolated(unsafe) let slots = unsafe plan.slots
    nonisolated(unsafe) let body = body
    return { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try unsafe call(
          receiver,
          unsafe a.pointer(as: A.self, in: frame),
          unsafe b.pointer(as: B.self, in: frame), body)
      }
      if Value.self != Void.self { try unsafe result.store(value, in: frame.result(of: plan)) }
    }
  }

  @inlinable @unsafe
  @inline(__always)
  static func call<Receiver: AnyObject, Value, A: ~Copyable, B: ~Copyable>(
    _ receiver: Receiver, _ a: UnsafePointer<A>, _ b: UnsafePointer<B>,
    _ body: (Receiver, borrowing A, borrowing B) throws -> Value
  ) throws -> Value {
    try unsafe body(receiver, a.pointee, b.pointee)
  }

  /// A body of three arguments.
  @inlinable @unsafe
  static func of<Receiver: AnyObject, Value, A, B, C>(
    _ fitted: FittedPlan<Value, A, B, C>,
    _ body: @escaping (Receiver, A, B, C) throws -> Value
  ) -> Implementation.Closure {
    guard let places = fitted.lent else {
      return unsafe AnyBody.returning(fitted, method: body)
    }
    let (a, b, c) = (places[0], places[1], places[2])
    let plan = fitted.plan
    let result = fitted.result
    let type = ObjectIdentifier(Receiver.self)
    nonisolated(unsafe) let slots = unsafe plan.slots
    nonisolated(unsafe) let body = body
    return { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try unsafe call(
          receiver,
          unsafe a.pointer(as: A.self, in: frame),
          unsafe b.pointer(as: B.self, in: frame),
          unsafe c.pointer(as: C.self, in: frame), body)
      }
      if Value.self != Void.self { try unsafe result.store(value, in: frame.result(of: plan)) }
    }
  }

  @inlinable @unsafe
  @inline(__always)
  static func call<Receiver: AnyObject, Value, A: ~Copyable, B: ~Copyable, C: ~Copyable>(
    _ receiver: Receiver, _ a: UnsafePointer<A>, _ b: UnsafePointer<B>, _ c: UnsafePointer<C>,
    _ body: (Receiver, borrowing A, borrowing B, borrowing C) throws -> Value
  ) throws -> Value {
    try unsafe body(receiver, a.pointee, b.pointee, c.pointee)
  }

  /// A body of four arguments.
  @inlinable @unsafe
  static func of<Receiver: AnyObject, Value, A, B, C, D>(
    _ fitted: FittedPlan<Value, A, B, C, D>,
    _ body: @escaping (Receiver, A, B, C, D) throws -> Value
  ) -> Implementation.Closure {
    guard let places = fitted.lent else {
      return unsafe AnyBody.returning(fitted, method: body)
    }
    let (a, b, c, d) = (places[0], places[1], places[2], places[3])
    let plan = fitted.plan
    let result = fitted.result
    let type = ObjectIdentifier(Receiver.self)
    nonisolated(unsafe) let slots = unsafe plan.slots
    nonisolated(unsafe) let body = body
    return { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try unsafe call(
          receiver,
          unsafe a.pointer(as: A.self, in: frame),
          unsafe b.pointer(as: B.self, in: frame),
          unsafe c.pointer(as: C.self, in: frame),
          unsafe d.pointer(as: D.self, in: frame), body)
      }
      if Value.self != Void.self { try unsafe result.store(value, in: frame.result(of: plan)) }
    }
  }

  @inlinable @unsafe
  @inline(__always)
  static func call<
    Receiver: AnyObject, Value, A: ~Copyable, B: ~Copyable, C: ~Copyable, D: ~Copyable
  >(
    _ receiver: Receiver, _ a: UnsafePointer<A>, _ b: UnsafePointer<B>, _ c: UnsafePointer<C>,
    _ d: UnsafePointer<D>,
    _ body: (Receiver, borrowing A, borrowing B, borrowing C, borrowing D) throws -> Value
  ) throws -> Value {
    try unsafe body(receiver, a.pointee, b.pointee, c.pointee, d.pointee)
  }
}
