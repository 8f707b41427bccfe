/// Messages spelled as calls: `proxy.dynamic.tableView(table, didSelectRowAt: 5)` sends
/// `tableView:didSelectRowAt:`.
///
/// ```swift
/// let receiver = DynamicReceiver(calculator)
/// try receiver.add(2, to: 3).value(as: Int32.self)  // 5
/// try receiver.add(0.5, to: 3)                      // throws: 0.5 cannot be represented exactly as i
/// ```
///
/// The types are those that the receiver's method has, so numbers are converted where that loses
/// nothing; everything else must fit as it is. Slower than a ``Message``, which knows its types.
@dynamicMemberLookup
public struct DynamicReceiver {
  let target: AnyObject

  /// Makes an object ready for spelled messages.
  public init(_ target: AnyObject) { self.target = target }

  /// The first part of a selector.
  public subscript(dynamicMember name: String) -> DynamicMessage {
    DynamicMessage(target: target, name: name)
  }
}

extension ForwardingProxy {
  /// Messages to this proxy, spelled as calls.
  public var dynamic: DynamicReceiver { DynamicReceiver(self) }
}

/// A message whose first part is known; calling it sends it.
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
  @discardableResult
  public func dynamicallyCall(
    withKeywordArguments arguments: KeyValuePairs<String, any CallValue>
  ) throws -> DynamicResult {
    DynamicResult(call: try SpelledMessage(name, arguments).send(to: target))
  }
}

/// The result of a spelled message.
///
/// ```swift
/// let sum = try DynamicReceiver(calculator).add(2, to: 3)
/// try sum.value(as: Int32.self)  // 5
/// try sum.value(as: Int.self)    // throws: the result is i, but Int (q) was asked for
/// ```
public struct DynamicResult {
  let call: Invocation?

  /// The result as a Swift type, which must be the one the method has.
  public func value<Value: CallValue>(
    as type: Value.Type = Value.self
  ) throws(InvocationError) -> Value {
    guard let call else { throw .resultNotAvailable }
    return try call.result(as: type)
  }
}
