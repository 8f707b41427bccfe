import CForwardingShims
package import TypeEncodings

/// Turns Swift closures into bodies that take their arguments from a frame.
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
  static func checkResult<Value: CallValue>(
    _ plan: CallPlan, _ type: Value.Type
  ) throws(InvocationError) {
    let kind = unsafe ValueKind(raw: plan.result.pointee.kind)
    guard plan.accepts(type, kind, place: 0) else {
      throw .resultMismatch(
        expected: plan.typeText(place: 0), given: "\(Value.self) (\(Value.typeEncoding))")
    }
  }

  static func checkNoResult(_ plan: CallPlan) throws(InvocationError) {
    guard unsafe plan.result.pointee.kind == .nothing else {
      throw .resultMismatch(expected: plan.typeText(place: 0), given: "Void (v)")
    }
  }

  /// The receiver of a method, as the class that its body expects.
  static func receiver<Receiver: AnyObject>(
    _ plan: CallPlan, _ frame: FrameReference
  ) throws(InvocationError) -> Receiver {
    guard let object = OwnedObject.object(at: frame.argument(0, of: plan).word) else {
      throw .wrongClass(expected: "\(Receiver.self)", given: "nil")
    }
    guard let receiver = object as? Receiver else {
      throw .wrongClass(expected: "\(Receiver.self)", given: "\(type(of: object))")
    }
    return receiver
  }

  /// A body that reads its arguments from argument `first` on and writes a result.
  static func returning<Value: CallValue, each Argument: CallValue>(
    _ plan: CallPlan, first: Int, _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) -> Implementation.Closure {
    { frame in
      var cursor = ArgumentCursor(plan: plan, frame: frame, index: first)
      let result = try body(repeat try cursor.next((each Argument).self))
      try result.store(in: frame.result(of: plan))
    }
  }

  /// A body that reads its arguments from argument `first` on and has no result.
  static func void<each Argument: CallValue>(
    _ plan: CallPlan, first: Int, _ body: @escaping @Sendable (repeat each Argument) throws -> Void
  ) -> Implementation.Closure {
    { frame in
      var cursor = ArgumentCursor(plan: plan, frame: frame, index: first)
      try body(repeat try cursor.next((each Argument).self))
    }
  }
}

/// Walks over the arguments of a frame, left to right. The types were compared with its places
/// when the body was registered.
struct ArgumentCursor {
  let plan: CallPlan
  let frame: FrameReference
  var index: Int

  mutating func next<Value: CallValue>(_ type: Value.Type) throws(InvocationError) -> Value {
    defer { index += 1 }
    return try Value.load(from: frame.argument(index, of: plan))
  }
}
