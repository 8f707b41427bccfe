public import CForwardingShims

// Methods over any types of up to three arguments, once for each number of them, for the same reason as
// those over values of C: closure, arguments and result become one function that reads the frame.

extension Implementation {
  /// A method of no arguments, over any types.
  @inlinable
  public convenience init<Receiver: AnyObject, Value>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value>(anyMethod: encoding)
    let plan = fitted.plan
    let result = fitted.result
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    let twin =
      Value.self == Void.self
      ? nil
      : try Self.droppingResult(encoding: encoding) { (receiver: Receiver) in
        _ = try body(receiver)
      }
    self.init(fitted, receiver: Receiver.self, withoutResult: twin) { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try body(
          receiver)
      }
      if Value.self != Void.self {
        try unsafe result.store(value, in: frame.result(of: plan))
      }
    }
  }

  /// A method of one argument, over any types.
  @inlinable
  public convenience init<Receiver: AnyObject, Value, A>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A>(anyMethod: encoding)
    let plan = fitted.plan
    let result = fitted.result
    let placeA = fitted.arguments[0]
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    let twin =
      Value.self == Void.self
      ? nil
      : try Self.droppingResult(encoding: encoding) { (receiver: Receiver, a: A) in
        _ = try body(receiver, a)
      }
    self.init(fitted, receiver: Receiver.self, withoutResult: twin) { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try body(
          receiver,
          unsafe placeA.load(as: A.self, from: frame.slot(slots, 2)))
      }
      if Value.self != Void.self {
        try unsafe result.store(value, in: frame.result(of: plan))
      }
    }
  }

  /// A method of two arguments, over any types.
  @inlinable
  public convenience init<
    Receiver: AnyObject, Value, A, B
  >(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A, B) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B>(anyMethod: encoding)
    let plan = fitted.plan
    let result = fitted.result
    let placeA = fitted.arguments[0]
    let placeB = fitted.arguments[1]
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    let twin =
      Value.self == Void.self
      ? nil
      : try Self.droppingResult(encoding: encoding) { (receiver: Receiver, a: A, b: B) in
        _ = try body(receiver, a, b)
      }
    self.init(fitted, receiver: Receiver.self, withoutResult: twin) { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try body(
          receiver,
          unsafe placeA.load(as: A.self, from: frame.slot(slots, 2)),
          unsafe placeB.load(as: B.self, from: frame.slot(slots, 3)))
      }
      if Value.self != Void.self {
        try unsafe result.store(value, in: frame.result(of: plan))
      }
    }
  }

  /// A method of three arguments, over any types.
  @inlinable
  public convenience init<
    Receiver: AnyObject, Value, A, B,
    C
  >(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A, B, C) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B, C>(anyMethod: encoding)
    let plan = fitted.plan
    let result = fitted.result
    let placeA = fitted.arguments[0]
    let placeB = fitted.arguments[1]
    let placeC = fitted.arguments[2]
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    let twin =
      Value.self == Void.self
      ? nil
      : try Self.droppingResult(encoding: encoding) { (receiver: Receiver, a: A, b: B, c: C) in
        _ = try body(receiver, a, b, c)
      }
    self.init(fitted, receiver: Receiver.self, withoutResult: twin) { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try body(
          receiver,
          unsafe placeA.load(as: A.self, from: frame.slot(slots, 2)),
          unsafe placeB.load(as: B.self, from: frame.slot(slots, 3)),
          unsafe placeC.load(as: C.self, from: frame.slot(slots, 4)))
      }
      if Value.self != Void.self {
        try unsafe result.store(value, in: frame.result(of: plan))
      }
    }
  }
}
