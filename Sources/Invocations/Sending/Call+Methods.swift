// SPDX-License-Identifier: Apache-2.0

// Looks up the method of an object without sending the message.
extension Call {
  /// The method that an object's class has for the selector; nil if the object must be asked,
  /// because it has methods of its own, or none. The call must be one of a method.
  ///
  /// - Throws: ``InvocationError`` if the types differ.
  package func directMethod(of target: AnyObject) throws(InvocationError) -> Implementation? {
    guard let selector else { throw .selectorNotSet }
    guard let method = MethodTable.find(type(of: target), selector).1 else { return nil }
    let answering = try plan.check(method, selector)
    try answering.checkReceiver(target)
    return answering
  }

  /// The method that an object's class has for the selector, if it does not suspend.
  package func methodWithoutSuspension(of target: AnyObject) -> Implementation? {
    guard let method = try? directMethod(of: target), !method.isAwaited else { return nil }
    return method
  }

  /// Checks that an object may be able to perform the call, now or later.
  ///
  /// - Returns: Whether the object's class has the method, so that all objects of the class can.
  /// - Throws: ``InvocationError`` if the object has no such method and does not forward messages,
  ///   or if the types differ.
  package func checkMethod(of target: AnyObject) throws(InvocationError) -> Bool {
    guard plan.isMethod else { throw .selectorNotSet }
    if try directMethod(of: target) != nil { return true }
    guard let selector, !(target is any MessageForwarding),
      !Introspection.responds(target, to: selector)
    else { return false }
    throw .unrecognized(selector, by: target)
  }
}
