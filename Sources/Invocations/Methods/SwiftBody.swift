// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// Makes bodies that take their arguments from a frame, from Swift closures.
@usableFromInline
package enum SwiftBody {
  // Each function has two versions, for arguments that are words and for others. Passing the
  // difference as a closure would add an indirect call to every call.

  /// A body that reads its arguments from argument `first` on, and writes a result.
  @inlinable
  static func returning<Value: CallValue, each Argument: CallValue>(
    _ fitted: FittedPlan<Value, repeat each Argument>,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    let plan = fitted.plan
    let first = fitted.first
    guard let layout = TupleLayout(fitted), layout.isWords else {
      return { frame in
        var cursor = ArgumentCursor(plan: plan, frame: frame, index: first)
        let value = try body(repeat try cursor.next((each Argument).self))
        try unsafe value.store(in: frame.result(of: plan))
      }
    }
    return { frame in
      let arguments = layout.load(as: (repeat each Argument).self, from: frame)
      try unsafe body(repeat each arguments).store(in: frame.result(of: plan))
    }
  }

  /// A body without a result.
  @inlinable
  static func void<each Argument: CallValue>(
    _ fitted: FittedPlan<NoResult, repeat each Argument>,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Void
  ) -> Implementation.Closure {
    let plan = fitted.plan
    let first = fitted.first
    guard let layout = TupleLayout(fitted), layout.isWords else {
      return { frame in
        var cursor = ArgumentCursor(plan: plan, frame: frame, index: first)
        try body(repeat try cursor.next((each Argument).self))
      }
    }
    return { frame in
      let arguments = layout.load(as: (repeat each Argument).self, from: frame)
      try body(repeat each arguments)
    }
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

  /// Casts an object to the class that a method takes.
  static func receiver<Receiver: AnyObject>(
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

/// Iterates over the arguments of a frame, left to right. The types were compared with its places
/// when the body was registered.
@usableFromInline
@frozen
struct ArgumentCursor {
  @usableFromInline let plan: CallPlan
  @usableFromInline let frame: FrameReference
  @usableFromInline var index: Int

  @inlinable
  init(plan: CallPlan, frame: FrameReference, index: Int) {
    self.plan = plan
    self.frame = frame
    self.index = index
  }

  @inlinable
  mutating func next<Value: CallValue>(_ type: Value.Type) throws(InvocationError) -> Value {
    defer { index += 1 }
    return try unsafe Value.load(from: frame.argument(index, of: plan))
  }
}

extension FrameReference {
  /// The place of an argument, for a body that has the slots of its plan.
  @inlinable @unsafe
  @inline(__always)
  func slot(_ slots: UnsafePointer<FWDSlot>, _ index: Int) -> ValueSlot {
    unsafe ValueSlot(slot: slots + index, frame: base, index: index)
  }
}
