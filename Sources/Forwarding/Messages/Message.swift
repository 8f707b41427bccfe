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
  @usableFromInline package let prepared: PreparedMessage

  /// Makes a message. The selector must have a colon for each argument. The types are compared with
  /// `encoding`, or spell one.
  public init(_ selector: Selector, encoding: String? = nil) throws(InvocationError) {
    let fitted = try FittedPlan<Result, repeat each Argument>(anyMethod: encoding)
    do throws(TypeEncodingError) {
      try fitted.plan.signature.checkArity(ofSelector: selector.name)
    } catch {
      throw .encoding(error)
    }
    self.init(selector, PreparedMessage(fitted))
  }

  /// A message that was prepared.
  @usableFromInline
  init(_ selector: Selector, _ prepared: PreparedMessage) {
    self.selector = selector
    self.prepared = prepared
  }

  /// The prepared call.
  public var plan: CallPlan { prepared.plan }

  /// The signature that the types spell.
  public var signature: MethodSignature { plan.signature }

  /// Records the message with its arguments, for any target.
  public func invocation(
    _ arguments: repeat each Argument
  ) throws(InvocationError) -> Invocation {
    try prepared.record(repeat each arguments, as: selector)
  }

  /// Sends the message; nil answers zero.
  @inlinable
  @discardableResult
  public func callAsFunction(
    _ arguments: repeat each Argument, on target: AnyObject?
  ) throws -> Result {
    try prepared.send(tuple: (repeat each arguments), as: selector, to: target)
  }
}
