import CForwardingShims
import TypeEncodings

/// A plan whose places were compared with the Swift types of a result and of arguments.
///
/// Closures and typed messages move values without looking at the types again, so they are made from
/// nothing else; and there is no way to make one of these without the comparison. It counts the
/// arguments, and compares kinds, sizes, alignment and plainness, whether the plan was spelled by the
/// types or parsed: a type may say anything about itself.
@usableFromInline
package struct FittedPlan<Value: CallValue, each Argument: CallValue>: Sendable {
  /// The plan.
  @usableFromInline package let plan: CallPlan
  /// The first argument that the types speak of: 2 for a method.
  @usableFromInline let first: Int

  /// The plan of a method whose declared arguments are of these types: the one that `encoding`
  /// describes, or the one that the types spell.
  @usableFromInline
  package init(method encoding: String?) throws(InvocationError) {
    let signature: MethodSignature
    if let encoding {
      signature = try InvocationError.wrapping { () throws(TypeEncodingError) in
        try MethodSignature(method: encoding)
      }
    } else {
      signature = try Self.spelled(hidden: "@:")
    }
    try self.init(signature, first: 2)
    try plan.checkMethod()
  }

  /// The plan of a function whose arguments are of these types, found in the same way.
  @usableFromInline
  package init(function encoding: String?) throws(InvocationError) {
    let signature: MethodSignature
    if let encoding {
      signature = try InvocationError.wrapping { () throws(TypeEncodingError) in
        try MethodSignature(parsing: encoding)
      }
    } else {
      signature = try Self.spelled(hidden: "")
    }
    try self.init(signature, first: 0)
  }

  private init(_ signature: MethodSignature, first: Int) throws(InvocationError) {
    plan = try CallPlan.shared(for: signature)
    self.first = first
    try checkArguments()
    try checkResult()
  }

  /// The signature that the types spell, behind a prefix such as `@:`.
  private static func spelled(hidden: String) throws(InvocationError) -> MethodSignature {
    guard isFit(Value.self) else {
      throw .unfitType(SwiftType(Value.self))
    }
    var text = Value.typeEncoding + hidden
    for type in repeat (each Argument).self {
      guard isFit(type) else {
        throw .unfitType(SwiftType(type))
      }
      text += type.typeEncoding
    }
    let spelled = text
    return try InvocationError.wrapping { () throws(TypeEncodingError) in
      try SignatureCache.signature(ofProgramText: spelled)
    }
  }

  /// Whether a type fits any place: not one that travels as itself.
  private static func isFit<Given: CallValue>(_ type: Given.Type) -> Bool {
    // SAFETY: only looked at.
    unsafe !Given._callFacts(0).isUnfit
  }

  private func checkArguments() throws(InvocationError) {
    var count = first
    for _ in repeat (each Argument).self { count += 1 }
    guard count == plan.argumentCount else {
      throw .argumentCount(expected: plan.argumentCount - first, given: count - first)
    }
    var index = first
    for type in repeat (each Argument).self {
      try check(type, index)
      index += 1
    }
  }

  private func check<Given: CallValue>(
    _ type: Given.Type, _ index: Int
  ) throws(InvocationError) {
    let kind = unsafe ValueKind(raw: plan.slots[index].kind)
    guard plan.accepts(type, kind, place: index + 1) else {
      throw .argumentMismatch(
        index: index, expected: plan.type(ofPlace: index + 1), given: SwiftType(type))
    }
  }

  private func checkResult() throws(InvocationError) {
    let kind = unsafe ValueKind(raw: plan.result.pointee.kind)
    guard plan.accepts(Value.self, kind, place: 0) else {
      throw .resultMismatch(expected: plan.type(ofPlace: 0), given: SwiftType(Value.self))
    }
  }
}
