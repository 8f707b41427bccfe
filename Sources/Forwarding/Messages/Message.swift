/// A selector together with the Swift types of one message.
///
/// The encoding is derived from the types, so it cannot disagree with them:
///
/// ```swift
/// let add = try Message<Int32, Int32, Int32>("add:to:")
/// add.signature                  // i@:ii
/// try add(2, 3, on: calculator)  // 5
/// ```
///
/// The types may be any at all. Numbers, text, objects and the structures of C travel as C passes them;
/// all others by their address, without a copy, to methods that were registered with the same types.
///
/// A target may be any object, a proxy among them. If it registered the selector with other types,
/// the first send says so, with both spellings. A send allocates nothing: the call is recorded on
/// the stack.
public struct Message<Result, each Argument>: Sendable {
  /// The message's name.
  public let selector: Selector
  /// The prepared call.
  public let plan: CallPlan
  /// How the arguments get into a frame, if none says itself how it travels.
  @usableFromInline let layout: TupleLayout?
  /// How results and arguments travel.
  @usableFromInline let types: MessageTypes

  /// Makes a message. The selector must have a colon for each argument. The types are compared with
  /// `encoding`, or spell one.
  public init(_ selector: Selector, encoding: String? = nil) throws(InvocationError) {
    try self.init(selector, FittedPlan(anyMethod: encoding))
  }

  private init(
    _ selector: Selector, _ fitted: FittedPlan<Result, repeat each Argument>
  ) throws(InvocationError) {
    types = MessageTypes(result: fitted.result, arguments: fitted.arguments)
    plan = fitted.plan
    do throws(TypeEncodingError) {
      try plan.signature.checkArity(ofSelector: selector.name)
    } catch {
      throw .encoding(error)
    }
    layout = TupleLayout(fitted)
    self.selector = selector
  }

  /// A message whose parts are known.
  @usableFromInline
  init(_ selector: Selector, _ plan: CallPlan, _ layout: TupleLayout?, _ types: MessageTypes) {
    self.selector = selector
    self.plan = plan
    self.layout = layout
    self.types = types
  }

  /// The signature that the types spell.
  public var signature: MethodSignature { plan.signature }

  /// Records the message with its arguments, for any target.
  public func invocation(
    _ arguments: repeat each Argument
  ) throws(InvocationError) -> Invocation {
    let call = Invocation(plan, comparedSelector: selector)
    var index = 2
    for argument in repeat each arguments {
      try call.setFitting(argument, types.arguments[index - 2], at: index)
      index += 1
    }
    return call
  }

  /// Sends the message; nil answers zero.
  @inlinable
  @discardableResult
  public func callAsFunction(
    _ arguments: repeat each Argument, on target: AnyObject?
  ) throws -> Result {
    // Captured one by one: a copy of the message would count more references.
    let (selector, layout, types) = (selector, layout, types)
    return try plan.withInvocation { call in
      guard let layout else {
        var index = 2
        for argument in repeat each arguments {
          try call.setFitting(argument, types.arguments[index - 2], at: index)
          index += 1
        }
        try call.send(compared: selector, to: target)
        return try call.fittingAnswer(as: Result.self, types.result)
      }
      // The arguments are lent to the targets where they are.
      return try call.setAll(layout, (repeat each arguments)) {
        try call.send(compared: selector, to: target)
        return try call.fittingAnswer(as: Result.self, types.result)
      }
    }
  }
}

// For types that say themselves how they travel.
extension Message where Result: CallValue, repeat each Argument: CallValue {
  /// Makes a message of values of C. The selector must have a colon for each argument. The types are
  /// compared with `encoding`, or spell one.
  public init(_ selector: Selector, encoding: String? = nil) throws(InvocationError) {
    try self.init(selector, FittedPlan(method: encoding))
  }

  /// Sends a message of values of C; nil answers zero.
  @inlinable
  @discardableResult
  public func callAsFunction(
    _ arguments: repeat each Argument, on target: AnyObject?
  ) throws -> Result {
    let (selector, layout) = (selector, layout)
    return try plan.withInvocation { call in
      if let layout {
        call.setAll(layout, (repeat each arguments)) {}
      } else {
        var index = 2
        for argument in repeat each arguments {
          try call.setFitting(argument, at: index)
          index += 1
        }
      }
      try call.send(compared: selector, to: target)
      return try call.answer(as: Result.self)
    }
  }
}

/// How the result and the arguments of a message travel.
@usableFromInline
final class MessageTypes: Sendable {
  @usableFromInline let result: TypedPlace
  @usableFromInline let arguments: [TypedPlace]

  init(result: TypedPlace, arguments: [TypedPlace]) {
    self.result = result
    self.arguments = arguments
  }
}
