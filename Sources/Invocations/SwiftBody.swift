public import CForwardingShims
package import TypeEncodings

/// Turns Swift closures into bodies that take their arguments from a frame.
@usableFromInline
package enum SwiftBody {
  /// The signature that Swift types spell, behind a prefix such as `@:`.
  package static func signature<each Argument: CallValue>(
    result: String, hidden: String, _ arguments: repeat (each Argument).Type
  ) throws(InvocationError) -> MethodSignature {
    var text = result + hidden
    for type in repeat each arguments { text += type.typeEncoding }
    let spelled = text
    return try InvocationError.wrapping { () throws(TypeEncodingError) in
      try SignatureCache.signature(ofProgramText: spelled)
    }
  }

  /// The plan that an encoding of the program's user describes.
  static func plan(
    _ encoding: String, fixedArgumentCount: Int? = nil
  ) throws(InvocationError) -> CallPlan {
    let signature = try InvocationError.wrapping { () throws(TypeEncodingError) in
      try MethodSignature(parsing: encoding)
    }
    return try CallPlan.shared(for: signature, fixedArgumentCount: fixedArgumentCount)
  }

  /// The plan of a closure: the one that `encoding` describes, if the argument types fit it, or the
  /// one that they spell.
  @usableFromInline
  static func plan<each Argument: CallValue>(
    _ encoding: String?, result: String, _ arguments: repeat (each Argument).Type
  ) throws(InvocationError) -> CallPlan {
    guard let encoding else {
      return try CallPlan.shared(
        for: signature(result: result, hidden: "", repeat each arguments))
    }
    let plan = try plan(encoding)
    try check(plan, first: 0, repeat each arguments)
    return plan
  }

  /// Refuses Swift types that do not fit the places of `plan` from argument `first` on.
  static func check<each Argument: CallValue>(
    _ plan: CallPlan, first: Int, _ arguments: repeat (each Argument).Type
  ) throws(InvocationError) {
    var count = first
    for _ in repeat each arguments { count += 1 }
    guard count == plan.argumentCount else {
      throw .argumentCount(expected: plan.argumentCount - first, given: count - first)
    }
    var index = first
    for type in repeat each arguments {
      try check(plan, type, index)
      index += 1
    }
  }

  private static func check<Value: CallValue>(
    _ plan: CallPlan, _ type: Value.Type, _ index: Int
  ) throws(InvocationError) {
    let kind = unsafe ValueKind(raw: plan.slots[index].kind)
    guard plan.accepts(type, kind, place: index + 1) else {
      throw .argumentMismatch(
        index: index, expected: plan.typeText(place: index + 1),
        given: "\(Value.self) (\(Value.typeEncoding))")
    }
  }

  /// Refuses a Swift result that does not fit the plan's.
  @usableFromInline
  static func checkResult<Value: CallValue>(
    _ plan: CallPlan, _ type: Value.Type
  ) throws(InvocationError) {
    let kind = unsafe ValueKind(raw: plan.result.pointee.kind)
    guard plan.accepts(type, kind, place: 0) else {
      throw .resultMismatch(
        expected: plan.typeText(place: 0), given: "\(Value.self) (\(Value.typeEncoding))")
    }
  }

  @usableFromInline
  static func checkNoResult(_ plan: CallPlan) throws(InvocationError) {
    guard unsafe plan.result.pointee.kind == .nothing else {
      throw .resultMismatch(expected: plan.typeText(place: 0), given: "Void (v)")
    }
  }

  /// The plan of a method that Swift types spell.
  @usableFromInline
  static func methodPlan<each Argument: CallValue>(
    result: String, _ arguments: repeat (each Argument).Type
  ) throws(InvocationError) -> CallPlan {
    try CallPlan.shared(for: signature(result: result, hidden: "@:", repeat each arguments))
  }

  // Each of these says twice what it does, for arguments that are words and for others. To hand the
  // difference in as a closure would put one more call through a context into every call.

  /// A body that reads its arguments from argument `first` on and writes a result.
  @inlinable
  static func returning<Value: CallValue, each Argument: CallValue>(
    _ plan: CallPlan, first: Int, _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    guard let layout = TupleLayout(plan, first: first, repeat (each Argument).self) else {
      return { frame in
        var cursor = ArgumentCursor(plan: plan, frame: frame, index: first)
        let value = try body(repeat try cursor.next((each Argument).self))
        try value.store(in: frame.result(of: plan))
      }
    }
    return { frame in
      let arguments = layout.load(as: (repeat each Argument).self, from: frame)
      try body(repeat each arguments).store(in: frame.result(of: plan))
    }
  }

  /// A body that has no result.
  @inlinable
  static func void<each Argument: CallValue>(
    _ plan: CallPlan, first: Int, _ body: @escaping @Sendable (repeat each Argument) throws -> Void
  ) -> Implementation.Closure {
    guard let layout = TupleLayout(plan, first: first, repeat (each Argument).self) else {
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

  /// A method's body that writes a result.
  @inlinable
  static func returning<Receiver: AnyObject, Value: CallValue, each Argument: CallValue>(
    _ plan: CallPlan,
    method body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    let type = ObjectIdentifier(Receiver.self)
    return { frame in
      var cursor = ArgumentCursor(plan: plan, frame: frame, index: 2)
      let value = try unsafe withReceiver(plan.slots, frame, exactly: type) {
        (receiver: Receiver) in
        try body(receiver, repeat try cursor.next((each Argument).self))
      }
      try value.store(in: frame.result(of: plan))
    }
  }

  /// A method's body that has no result.
  @inlinable
  static func void<Receiver: AnyObject, each Argument: CallValue>(
    _ plan: CallPlan,
    method body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Void
  ) -> Implementation.Closure {
    let type = ObjectIdentifier(Receiver.self)
    return { frame in
      var cursor = ArgumentCursor(plan: plan, frame: frame, index: 2)
      try unsafe withReceiver(plan.slots, frame, exactly: type) { (receiver: Receiver) in
        try body(receiver, repeat try cursor.next((each Argument).self))
      }
    }
  }

  /// Calls `body` with the receiver of a method, which whoever calls holds. `type` is its class, asked
  /// for when the method was made: to ask in the middle of a call is a call.
  @inlinable @unsafe
  @inline(__always)
  static func withReceiver<Receiver: AnyObject, Result>(
    _ slots: UnsafePointer<FWDSlot>, _ frame: FrameReference, exactly type: ObjectIdentifier,
    _ body: (Receiver) throws -> Result
  ) throws -> Result {
    let object = unsafe UnsafeRawPointer(bitPattern: UInt(frame.place(slots, 0).word))
    if unsafe !isExactly(type, object) { try unsafe checkClass(object, Receiver.self) }
    // SAFETY: an object of the class, as was checked; not nil.
    return try unsafe Unmanaged<Receiver>.fromOpaque(object.unsafelyUnwrapped)
      ._withUnsafeGuaranteedRef { try body($0) }
  }

  /// Whether an address is that of an object of a class, and of none below it.
  @inlinable @unsafe
  @inline(__always)
  static func isExactly(_ type: ObjectIdentifier, _ object: UnsafeRawPointer?) -> Bool {
    guard let object = unsafe object else { return false }
    return unsafe Unmanaged<AnyObject>.fromOpaque(object)._withUnsafeGuaranteedRef {
      ObjectIdentifier(Swift.type(of: $0)) == type
    }
  }

  /// Refuses nil, and an object that is not of the class or one below it.
  @usableFromInline @unsafe
  static func checkClass<Receiver: AnyObject>(
    _ object: UnsafeRawPointer?, _ type: Receiver.Type
  ) throws {
    guard let object = unsafe object else {
      throw InvocationError.wrongClass(expected: "\(Receiver.self)", given: "nil")
    }
    let found = unsafe Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
    guard found is Receiver else {
      throw InvocationError.wrongClass(
        expected: "\(Receiver.self)", given: "\(Swift.type(of: found))")
    }
  }
}

/// Walks over the arguments of a frame, left to right. The types were compared with its places
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
    return try Value.load(from: frame.argument(index, of: plan))
  }
}
