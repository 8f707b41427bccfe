// SPDX-License-Identifier: Apache-2.0
/// Makes bodies of methods over any types that pass each argument in place, borrowed. One function
/// for each number of arguments, so that closure, arguments and result become one function that
/// reads the frame.
///
/// If an argument cannot be borrowed, `AnyBody` copies the arguments.
@usableFromInline
enum LentBody {
  // Each has three parts. The body checks that all is as usual, and calls; none of its own values
  // live through a call, so it saves no registers. If not, `settled` does the remaining checks, out
  // of line. `call` takes types that need not be copyable, which are borrowed; copyable ones would
  // be copied to be passed on.

  /// A body without arguments.
  @inlinable @unsafe
  static func of<Receiver: AnyObject, Value>(
    _ fitted: FittedPlan<Value>,
    _ body: @escaping (Receiver) throws -> Value
  ) -> Implementation.Closure {
    guard let places = LentPlaces(fitted, receiver: Receiver.self) else {
      return unsafe AnyBody.returning(fitted, method: body)
    }
    nonisolated(unsafe) let body = body
    return { frame in
      guard unsafe places.isReceiverUsual(in: frame)
      else { return try unsafe settled(places, frame, body) }
      try unsafe perform(places, frame, body)
    }
  }

  @inlinable @unsafe
  @inline(never)
  static func settled<Receiver: AnyObject, Value>(
    _ places: LentPlaces, _ frame: FrameReference,
    _ body: (Receiver) throws -> Value
  ) throws {
    try unsafe places.settle(frame)
    try unsafe perform(places, frame, body)
  }

  @inlinable @unsafe
  @inline(__always)
  static func perform<Receiver: AnyObject, Value>(
    _ places: LentPlaces, _ frame: FrameReference,
    _ body: (Receiver) throws -> Value
  ) throws {
    try unsafe places.answer(frame) { (receiver: Receiver) in
      try body(receiver)
    }
  }

  /// A body with one argument.
  @inlinable @unsafe
  static func of<Receiver: AnyObject, Value, A>(
    _ fitted: FittedPlan<Value, A>,
    _ body: @escaping (Receiver, A) throws -> Value
  ) -> Implementation.Closure {
    guard let places = LentPlaces(fitted, receiver: Receiver.self) else {
      return unsafe AnyBody.returning(fitted, method: body)
    }
    nonisolated(unsafe) let body = body
    return { frame in
      guard unsafe places.isReceiverUsual(in: frame),
        unsafe places.a.isUsual(as: A.self, in: frame)
      else { return try unsafe settled(places, frame, body) }
      try unsafe perform(places, frame, body)
    }
  }

  @inlinable @unsafe
  @inline(never)
  static func settled<Receiver: AnyObject, Value, A>(
    _ places: LentPlaces, _ frame: FrameReference,
    _ body: (Receiver, A) throws -> Value
  ) throws {
    try unsafe places.settle(frame)
    try unsafe perform(places, frame, body)
  }

  @inlinable @unsafe
  @inline(__always)
  static func perform<Receiver: AnyObject, Value, A>(
    _ places: LentPlaces, _ frame: FrameReference,
    _ body: (Receiver, A) throws -> Value
  ) throws {
    try unsafe places.answer(frame) { (receiver: Receiver) in
      try unsafe call(
        receiver,
        unsafe places.a.pointer(as: A.self, in: frame), body)
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

  /// A body with two arguments.
  @inlinable @unsafe
  static func of<Receiver: AnyObject, Value, A, B>(
    _ fitted: FittedPlan<Value, A, B>,
    _ body: @escaping (Receiver, A, B) throws -> Value
  ) -> Implementation.Closure {
    guard let places = LentPlaces(fitted, receiver: Receiver.self) else {
      return unsafe AnyBody.returning(fitted, method: body)
    }
    nonisolated(unsafe) let body = body
    return { frame in
      guard unsafe places.isReceiverUsual(in: frame),
        unsafe places.a.isUsual(as: A.self, in: frame),
        unsafe places.b.isUsual(as: B.self, in: frame)
      else { return try unsafe settled(places, frame, body) }
      try unsafe perform(places, frame, body)
    }
  }

  @inlinable @unsafe
  @inline(never)
  static func settled<Receiver: AnyObject, Value, A, B>(
    _ places: LentPlaces, _ frame: FrameReference,
    _ body: (Receiver, A, B) throws -> Value
  ) throws {
    try unsafe places.settle(frame)
    try unsafe perform(places, frame, body)
  }

  @inlinable @unsafe
  @inline(__always)
  static func perform<Receiver: AnyObject, Value, A, B>(
    _ places: LentPlaces, _ frame: FrameReference,
    _ body: (Receiver, A, B) throws -> Value
  ) throws {
    try unsafe places.answer(frame) { (receiver: Receiver) in
      try unsafe call(
        receiver,
        unsafe places.a.pointer(as: A.self, in: frame),
        unsafe places.b.pointer(as: B.self, in: frame), body)
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

  /// A body with three arguments.
  @inlinable @unsafe
  static func of<Receiver: AnyObject, Value, A, B, C>(
    _ fitted: FittedPlan<Value, A, B, C>,
    _ body: @escaping (Receiver, A, B, C) throws -> Value
  ) -> Implementation.Closure {
    guard let places = LentPlaces(fitted, receiver: Receiver.self) else {
      return unsafe AnyBody.returning(fitted, method: body)
    }
    nonisolated(unsafe) let body = body
    return { frame in
      guard unsafe places.isReceiverUsual(in: frame),
        unsafe places.a.isUsual(as: A.self, in: frame),
        unsafe places.b.isUsual(as: B.self, in: frame),
        unsafe places.c.isUsual(as: C.self, in: frame)
      else { return try unsafe settled(places, frame, body) }
      try unsafe perform(places, frame, body)
    }
  }

  @inlinable @unsafe
  @inline(never)
  static func settled<Receiver: AnyObject, Value, A, B, C>(
    _ places: LentPlaces, _ frame: FrameReference,
    _ body: (Receiver, A, B, C) throws -> Value
  ) throws {
    try unsafe places.settle(frame)
    try unsafe perform(places, frame, body)
  }

  @inlinable @unsafe
  @inline(__always)
  static func perform<Receiver: AnyObject, Value, A, B, C>(
    _ places: LentPlaces, _ frame: FrameReference,
    _ body: (Receiver, A, B, C) throws -> Value
  ) throws {
    try unsafe places.answer(frame) { (receiver: Receiver) in
      try unsafe call(
        receiver,
        unsafe places.a.pointer(as: A.self, in: frame),
        unsafe places.b.pointer(as: B.self, in: frame),
        unsafe places.c.pointer(as: C.self, in: frame), body)
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

  /// A body with four arguments.
  @inlinable @unsafe
  static func of<Receiver: AnyObject, Value, A, B, C, D>(
    _ fitted: FittedPlan<Value, A, B, C, D>,
    _ body: @escaping (Receiver, A, B, C, D) throws -> Value
  ) -> Implementation.Closure {
    guard let places = LentPlaces(fitted, receiver: Receiver.self) else {
      return unsafe AnyBody.returning(fitted, method: body)
    }
    nonisolated(unsafe) let body = body
    return { frame in
      guard unsafe places.isReceiverUsual(in: frame),
        unsafe places.a.isUsual(as: A.self, in: frame),
        unsafe places.b.isUsual(as: B.self, in: frame),
        unsafe places.c.isUsual(as: C.self, in: frame),
        unsafe places.d.isUsual(as: D.self, in: frame)
      else { return try unsafe settled(places, frame, body) }
      try unsafe perform(places, frame, body)
    }
  }

  @inlinable @unsafe
  @inline(never)
  static func settled<Receiver: AnyObject, Value, A, B, C, D>(
    _ places: LentPlaces, _ frame: FrameReference,
    _ body: (Receiver, A, B, C, D) throws -> Value
  ) throws {
    try unsafe places.settle(frame)
    try unsafe perform(places, frame, body)
  }

  @inlinable @unsafe
  @inline(__always)
  static func perform<Receiver: AnyObject, Value, A, B, C, D>(
    _ places: LentPlaces, _ frame: FrameReference,
    _ body: (Receiver, A, B, C, D) throws -> Value
  ) throws {
    try unsafe places.answer(frame) { (receiver: Receiver) in
      try unsafe call(
        receiver,
        unsafe places.a.pointer(as: A.self, in: frame),
        unsafe places.b.pointer(as: B.self, in: frame),
        unsafe places.c.pointer(as: C.self, in: frame),
        unsafe places.d.pointer(as: D.self, in: frame), body)
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
