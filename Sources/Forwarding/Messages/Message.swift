// SPDX-License-Identifier: Apache-2.0
public import Invocations
public import TypeEncodings

/// A selector together with the Swift types of one message.
///
/// The encoding is derived from the types, so the two cannot disagree:
///
/// ```swift
/// let add = try Message<Int32, Int32, Int32>("add:to:")
/// add.signature                  // i@:ii
/// try add(2, 3, on: calculator)  // 5
/// ```
///
/// Any Swift types are allowed. Numbers, text, objects and C structures are passed by C's calling
/// convention. All other values are passed by their address, without a copy, to methods that were
/// registered with the same types.
///
/// A target may be any object, including a proxy. If the target's method was registered with other
/// types, the first send throws an error that shows both encodings. A send of few words that
/// returns one does not allocate: the call is recorded on the stack.
public struct Message<Result, each Argument>: Sendable {
  /// The selector of the message.
  public let selector: Selector
  @usableFromInline package let prepared: PreparedMessage

  /// Creates a message. The selector must have a colon for each argument. The types are compared
  /// with `encoding`; if that is nil, they determine it.
  ///
  /// - Throws: an ``InvocationError`` if the selector, the encoding and the types do not fit each
  ///   other.
  public init(_ selector: Selector, encoding: String? = nil) throws(InvocationError) {
    let fitted = try FittedPlan<Result, repeat each Argument>(method: encoding)
    try fitted.plan.signature.checkArity(of: selector)
    self.init(selector, PreparedMessage(fitted))
  }

  /// Creates a message from its prepared call.
  @usableFromInline
  init(_ selector: Selector, _ prepared: PreparedMessage) {
    self.selector = selector
    self.prepared = prepared
  }

  /// The call plan, which all sends of the message share.
  package var plan: CallPlan { prepared.plan }

  /// The signature that the types determine.
  public var signature: MethodSignature { plan.signature }

  /// Records the message with its arguments, for any target.
  ///
  /// - Throws: an ``InvocationError`` if an argument cannot be passed.
  @inlinable
  public func invocation(
    _ arguments: repeat each Argument
  ) throws(InvocationError) -> Invocation {
    try prepared.record(repeat each arguments, as: selector)
  }

  /// Sends the message, and returns the answer. A nil target answers zero.
  ///
  /// - Throws: the error of the target, or an ``InvocationError`` if the message cannot be sent.
  @inlinable
  @discardableResult
  public func callAsFunction(
    _ arguments: repeat each Argument, on target: AnyObject?
  ) throws -> Result {
    try prepared.send(tuple: (repeat each arguments), as: selector, to: target)
  }
}
