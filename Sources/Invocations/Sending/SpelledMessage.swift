// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

/// A message that was spelled as a Swift call: the first part of its name, and arguments whose
/// labels are the other parts.
package struct SpelledMessage {
  private let name: String
  private let arguments: KeyValuePairs<String, any CallValue>

  package init(_ name: String, _ arguments: KeyValuePairs<String, any CallValue>) {
    self.name = name
    self.arguments = arguments
  }

  /// Sends the message with the types of the method that the object has, or forwards to. Returns
  /// the call if it has a result.
  ///
  /// - Throws: ``InvocationError`` if the object does not take the message, or an argument does not
  ///   fit; or the error of the method.
  package func send(to target: AnyObject) throws -> Invocation? {
    let selector = try selector
    // A colon in a part of the name would stand for a missing argument.
    guard selector.numberOfArguments == arguments.count else {
      throw InvocationError.argumentCount(
        expected: selector.numberOfArguments, given: arguments.count)
    }
    guard let plan = try Introspection.plan(of: target, for: selector) else {
      if let forwarding = target as? any MessageForwarding {
        try forwarding.unrecognizedSelector(selector)
      }
      throw InvocationError.unrecognized(selector, by: target)
    }
    try plan.check(selector)
    guard plan.returnsValue else {
      try plan.withInvocation { call in
        try record(in: call.call)
        try call.send(selector, to: target)
      }
      return nil
    }
    let call = Invocation(plan, comparedSelector: selector)
    try record(in: call.call)
    try call.invoke(on: target)
    return call
  }

  private func record(in call: Call) throws(InvocationError) {
    var index = 2
    for argument in arguments {
      try call.setArgument(converting: argument.value, at: index)
      index += 1
    }
  }

  // MARK: The name

  /// The selector. The selector table remembers each name: a known name is assembled on the stack
  /// alone, and found without a lock.
  private var selector: Selector {
    get throws(InvocationError) {
      if let known = knownSelector { return known }
      var spelled = name
      for (index, argument) in arguments.enumerated() {
        spelled += index == 0 ? ":" : argument.key + ":"
      }
      return try Selector(interning: spelled)
    }
  }

  /// The selector, if its name is known and fits the buffer.
  private var knownSelector: Selector? {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { room in
      let start = unsafe room.baseAddress.unsafelyUnwrapped
      var count = 0
      // SAFETY: at most 256 bytes are written, and every colon is preceded by a check for room.
      func add(_ part: String) -> Bool {
        unsafe part.withBytes { bytes in
          guard bytes.count < 256 - count else { return false }
          unsafe (start + count).update(
            from: bytes.baseAddress.unsafelyUnwrapped, count: bytes.count)
          count += bytes.count
          return true
        }
      }
      guard add(name) else { return nil }
      for index in 0..<arguments.count {
        // The first argument has no label.
        guard index == 0 || add(arguments[index].key), count < 256 else { return nil }
        unsafe start[count] = CChar(UInt8(ascii: ":"))
        count += 1
      }
      return unsafe fwd_selector_find(start, count).map { unsafe Selector($0) }
    }
  }
}

extension Introspection {
  /// The plan of a message to an object; nil if its types are unknown.
  fileprivate static func plan(
    of object: AnyObject, for selector: Selector
  ) throws(InvocationError) -> CallPlan? {
    if let plan = method(of: object, for: selector)?.plan, plan.isOfC { return plan }
    guard let signature = signature(of: object, for: selector) else { return nil }
    return try CallPlan.shared(for: signature)
  }

  /// The method of an object's class, or of the first object that it forwards to, if that is known
  /// without asking the objects.
  private static func method(of object: AnyObject, for selector: Selector) -> Implementation? {
    let (table, method) = MethodTable.find(type(of: object), selector)
    guard method == nil, table.providing == nil, let type = table.forwarding?.callType,
      table.requiredSignature(for: selector) == nil
    else { return method }
    // SAFETY: the caller retains the object.
    let held = unsafe BorrowedObject(Unmanaged.passUnretained(object).toOpaque())
    defer { withExtendedLifetime(object) {} }
    return held.targetMethod(for: selector, as: type)
  }

  /// The method that the class of an object has for a selector; nil if it has none, or if the
  /// object itself must be asked.
  package static func classMethod(of object: AnyObject, for selector: Selector) -> Implementation? {
    MethodTable.find(type(of: object), selector).1
  }
}

extension Call {
  /// Sets an argument of a spelled call. A number fits every place that can represent it exactly;
  /// other values fit only places of their type.
  fileprivate func setArgument<Value: CallValue>(
    converting value: Value, at index: Int
  ) throws(InvocationError) {
    try checkIndex(index)
    let slot = slot(index)
    // Most values have exactly the right type. A dynamic cast to a number protocol takes longer
    // than the call.
    if slot.kind == Value.valueKind, Value.memoryWord != nil {
      try unsafe value.store(in: slot)
    } else if let integer = value as? any BinaryInteger {
      guard try ExactNumber.store(integer, in: slot, plan.type(ofPlace: index + 1)) else {
        throw mismatch(index, given: Value.self)
      }
    } else if let number = value as? any BinaryFloatingPoint {
      guard try ExactNumber.store(number, in: slot, plan.type(ofPlace: index + 1)) else {
        throw mismatch(index, given: Value.self)
      }
    } else {
      try setArgument(value, at: index)
    }
  }
}
