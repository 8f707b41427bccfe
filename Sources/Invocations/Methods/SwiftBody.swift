// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// Makes bodies that take their arguments from a frame, from Swift closures over any types. Types with
/// a `CallValue` conformance convert their values. Objects are passed as references, and other
/// values by their address.
@usableFromInline
package enum SwiftBody {
  // Each function has two versions, for arguments that are words and for others. Passing the
  // difference as a closure would add an indirect call to every call.

  /// A body that reads all arguments, and writes a result.
  @inlinable
  static func returning<Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    if let layout = TupleLayout(fitted), layout.isWords {
      return { frame in
        let arguments = layout.load(as: (repeat each Argument).self, from: frame)
        try unsafe fitted.result.store(
          body(repeat each arguments), in: frame.result(of: fitted.plan))
      }
    }
    return { frame in
      var cursor = PlaceCursor(fitted.plan, fitted.arguments, frame)
      let value = try body(repeat try cursor.next((each Argument).self))
      try unsafe fitted.result.store(value, in: frame.result(of: fitted.plan))
    }
  }

  /// A method's body.
  ///
  /// - Safety: the closure must be safe to share between threads.
  @inlinable @unsafe
  static func returning<Receiver: AnyObject, Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>,
    method body: @escaping (Receiver, repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    nonisolated(unsafe) let body = body
    let type = ObjectIdentifier(Receiver.self)
    let receiver = unsafe Int(fitted.plan.facts.pointee.receiver_offset)
    if let layout = TupleLayout(fitted), layout.isWords {
      return { frame in
        let arguments = layout.load(as: (repeat each Argument).self, from: frame)
        let value = try unsafe withReceiver(at: receiver, frame, exactly: type) {
          (receiver: Receiver) in
          try unsafe body(receiver, repeat each arguments)
        }
        try unsafe fitted.result.store(value, in: frame.result(of: fitted.plan))
      }
    }
    return { frame in
      var cursor = PlaceCursor(fitted.plan, fitted.arguments, frame)
      let value = try unsafe withReceiver(at: receiver, frame, exactly: type) {
        (receiver: Receiver) in
        try unsafe body(receiver, repeat try cursor.next((each Argument).self))
      }
      try unsafe fitted.result.store(value, in: frame.result(of: fitted.plan))
    }
  }

  /// The body of an `async` method for senders that do not await.
  static func notAwaited(_ plan: CallPlan) -> Implementation.Closure {
    { frame in throw InvocationError.notAwaited(frame.selector(of: plan)) }
  }

  /// Calls `body` with the receiver of a method, which the caller retains. `type` is its class,
  /// stored when the method was made, because looking it up during a call costs a function call.
  @inlinable @unsafe
  @inline(__always)
  static func withReceiver<Receiver: AnyObject, Result>(
    at offset: Int, _ frame: FrameReference, exactly type: ObjectIdentifier,
    _ body: (Receiver) throws -> Result
  ) throws -> Result {
    let object = unsafe frame.base.load(fromByteOffset: offset, as: UnsafeRawPointer?.self)
    if unsafe !isExactly(type, object) { try unsafe checkClass(object, type) }
    // SAFETY: the object is not nil and of the class, as was checked.
    return try unsafe Unmanaged<Receiver>.fromOpaque(object.unsafelyUnwrapped)
      ._withUnsafeGuaranteedRef { try body($0) }
  }

  /// Whether an address is that of an object of exactly this class, not of a subclass.
  @inlinable @unsafe
  @inline(__always)
  static func isExactly(_ type: ObjectIdentifier, _ object: UnsafeRawPointer?) -> Bool {
    guard let object = unsafe object else { return false }
    return unsafe Unmanaged<AnyObject>.fromOpaque(object)._withUnsafeGuaranteedRef {
      ObjectIdentifier(Swift.type(of: $0)) == type
    }
  }

  /// Casts an object to a class.
  static func receiver<Receiver>(
    _ object: AnyObject?, as type: Receiver.Type
  ) throws(InvocationError) -> Receiver {
    if let receiver = object as? Receiver { return receiver }
    throw .wrongClass(
      expected: SwiftType(type), given: object.map { SwiftType(Swift.type(of: $0)) })
  }

  /// Throws for nil, and for an object that is neither of the class nor of a subclass. If the type
  /// is not a class, any object is valid.
  @usableFromInline @unsafe
  @inline(never)
  static func checkClass(
    _ object: UnsafeRawPointer?, _ expected: ObjectIdentifier
  ) throws(InvocationError) {
    // SAFETY: the identifier of a type is the address of its metadata, and so is a metatype.
    let expected = unsafe unsafeBitCast(expected, to: Any.Type.self)
    let found: AnyClass? = unsafe object.map {
      unsafe Unmanaged<AnyObject>.fromOpaque($0)._withUnsafeGuaranteedRef { Swift.type(of: $0) }
    }
    if let found, (expected as? AnyClass).map({ isClass(found, below: $0) }) ?? true { return }
    throw .wrongClass(expected: SwiftType(expected), given: found.map { SwiftType($0) })
  }
}

/// Iterates over the arguments of a frame, left to right, and reads each as its place says.
@usableFromInline
@frozen
struct PlaceCursor {
  @usableFromInline let plan: CallPlan
  @usableFromInline let places: [Place]
  @usableFromInline let frame: FrameReference
  @usableFromInline let first: Int
  @usableFromInline var next = 0

  @inlinable
  init(_ plan: CallPlan, _ places: [Place], _ frame: FrameReference) {
    first = plan.argumentCount - places.count
    self.plan = plan
    self.places = places
    self.frame = frame
  }

  @inlinable
  @inline(__always)
  mutating func next<Value>(_ type: Value.Type) throws(InvocationError) -> Value {
    defer { next += 1 }
    return try unsafe places[next].load(as: type, from: frame.argument(first + next, of: plan))
  }
}
