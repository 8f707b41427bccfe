// SPDX-License-Identifier: Apache-2.0
/// Sends messages that are written as calls: `proxy.dynamic.tableView(table, didSelectRowAt: 5)`
/// sends `tableView:didSelectRowAt:`.
///
/// ```swift
/// let receiver = DynamicReceiver(calculator)
/// try receiver.add(2, to: 3).value(as: Int32.self)  // 5
/// try receiver.add(0.5, to: 3)                      // throws: 0.5 cannot be represented exactly as i
/// ```
///
/// The types are those of the receiver's method. Numbers are converted if no precision is lost; all
/// other values must have the exact type. This is slower than a ``Message``, whose types are fixed.
@dynamicMemberLookup
public struct DynamicReceiver {
  let target: AnyObject

  /// Creates a receiver for messages to an object.
  public init(_ target: AnyObject) { self.target = target }

  /// The first part of a selector.
  public subscript(dynamicMember name: String) -> DynamicMessage {
    DynamicMessage(target: target, name: name)
  }
}

extension ForwardingProxy {
  /// The receiver for messages to this proxy that are written as calls.
  public var dynamic: DynamicReceiver { DynamicReceiver(self) }
}

/// A message whose selector's first part is given. Calling it sends the message.
///
/// ```swift
/// let add = DynamicReceiver(calculator).add
/// try add(2, to: 3).value(as: Int32.self)  // 5
/// ```
@dynamicCallable
public struct DynamicMessage {
  let target: AnyObject
  let name: String

  /// Sends the message. The labels are the other parts of the selector.
  ///
  /// - Throws: an ``InvocationError`` if an argument does not fit, or the error of the target.
  @discardableResult
  public func dynamicallyCall(
    withKeywordArguments arguments: KeyValuePairs<String, any CallValue>
  ) throws -> DynamicResult {
    DynamicResult(call: try SpelledMessage(name, arguments).send(to: target))
  }
}

/// The result of a message that was written as a call.
///
/// ```swift
/// let sum = try DynamicReceiver(calculator).add(2, to: 3)
/// try sum.value(as: Int32.self)  // 5
/// try sum.value(as: Int.self)    // throws: the result is i, but Int (q) was asked for
/// ```
public struct DynamicResult {
  let call: Invocation?

  /// Returns the result as a Swift type, which must be that of the method's result.
  ///
  /// - Throws: an ``InvocationError`` if the type does not fit, or there is no result.
  public func value<Value: CallValue>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    guard let call else { throw .resultNotAvailable }
    return try call.result(as: type)
  }
}
