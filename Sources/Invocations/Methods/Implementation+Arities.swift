public import CForwardingShims

// Methods of up to three arguments, once for each number of them.
//
// A parameter pack does the same for any number, but hands the arguments to the closure in memory,
// one after the other, which takes longer than the call. Written out, closure, arguments and result
// become one function that reads the frame. The overloads differ in nothing but the number of
// arguments; a change to one is a change to all.

extension FrameReference {
  /// The place of an argument, for a body that keeps the slots of its plan at hand.
  @inlinable @unsafe
  @inline(__always)
  func slot(_ slots: UnsafePointer<FWDSlot>, _ index: Int) -> ValueSlot {
    unsafe ValueSlot(slot: slots + index, frame: base, index: index)
  }
}

extension Implementation {
  /// A method of no arguments.
  @inlinable
  public convenience init<Receiver: AnyObject, Value: CallValue>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value>(method: encoding)
    let plan = fitted.plan
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    self.init(fitted, receiver: Receiver.self) { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try body(receiver)
      }
      try unsafe value.store(in: frame.result(of: plan))
    }
  }

  /// A method of no arguments, without a result.
  @inlinable
  public convenience init<Receiver: AnyObject>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver) throws -> Void
  ) throws(InvocationError) {
    let fitted = try FittedPlan<NoResult>(method: encoding)
    let plan = fitted.plan
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    self.init(fitted, receiver: Receiver.self) { frame in
      try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) { (receiver: Receiver) in
        try body(receiver)
      }
    }
  }

  /// A method of one argument.
  @inlinable
  public convenience init<Receiver: AnyObject, Value: CallValue, A: CallValue>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A>(method: encoding)
    let plan = fitted.plan
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    self.init(fitted, receiver: Receiver.self) { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try body(
          receiver,
          unsafe A.load(from: frame.slot(slots, 2)))
      }
      try unsafe value.store(in: frame.result(of: plan))
    }
  }

  /// A method of one argument, without a result.
  @inlinable
  public convenience init<Receiver: AnyObject, A: CallValue>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A) throws -> Void
  ) throws(InvocationError) {
    let fitted = try FittedPlan<NoResult, A>(method: encoding)
    let plan = fitted.plan
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    self.init(fitted, receiver: Receiver.self) { frame in
      try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) { (receiver: Receiver) in
        try body(
          receiver,
          unsafe A.load(from: frame.slot(slots, 2)))
      }
    }
  }

  /// A method of two arguments.
  @inlinable
  public convenience init<Receiver: AnyObject, Value: CallValue, A: CallValue, B: CallValue>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A, B) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B>(method: encoding)
    let plan = fitted.plan
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    self.init(fitted, receiver: Receiver.self) { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try body(
          receiver,
          unsafe A.load(from: frame.slot(slots, 2)),
          unsafe B.load(from: frame.slot(slots, 3)))
      }
      try unsafe value.store(in: frame.result(of: plan))
    }
  }

  /// A method of two arguments, without a result.
  @inlinable
  public convenience init<Receiver: AnyObject, A: CallValue, B: CallValue>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A, B) throws -> Void
  ) throws(InvocationError) {
    let fitted = try FittedPlan<NoResult, A, B>(method: encoding)
    let plan = fitted.plan
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    self.init(fitted, receiver: Receiver.self) { frame in
      try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) { (receiver: Receiver) in
        try body(
          receiver,
          unsafe A.load(from: frame.slot(slots, 2)),
          unsafe B.load(from: frame.slot(slots, 3)))
      }
    }
  }

  /// A method of three arguments.
  @inlinable
  public convenience init<
    Receiver: AnyObject, Value: CallValue, A: CallValue, B: CallValue, C: CallValue
  >(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A, B, C) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, A, B, C>(method: encoding)
    let plan = fitted.plan
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    self.init(fitted, receiver: Receiver.self) { frame in
      let value = try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) {
        (receiver: Receiver) in
        try body(
          receiver,
          unsafe A.load(from: frame.slot(slots, 2)),
          unsafe B.load(from: frame.slot(slots, 3)),
          unsafe C.load(from: frame.slot(slots, 4)))
      }
      try unsafe value.store(in: frame.result(of: plan))
    }
  }

  /// A method of three arguments, without a result.
  @inlinable
  public convenience init<Receiver: AnyObject, A: CallValue, B: CallValue, C: CallValue>(
    encoding: String? = nil, method body: @escaping @Sendable (Receiver, A, B, C) throws -> Void
  ) throws(InvocationError) {
    let fitted = try FittedPlan<NoResult, A, B, C>(method: encoding)
    let plan = fitted.plan
    nonisolated(unsafe) let slots = unsafe plan.slots
    let type = ObjectIdentifier(Receiver.self)
    self.init(fitted, receiver: Receiver.self) { frame in
      try unsafe SwiftBody.withReceiver(slots, frame, exactly: type) { (receiver: Receiver) in
        try body(
          receiver,
          unsafe A.load(from: frame.slot(slots, 2)),
          unsafe B.load(from: frame.slot(slots, 3)),
          unsafe C.load(from: frame.slot(slots, 4)))
      }
    }
  }

}
