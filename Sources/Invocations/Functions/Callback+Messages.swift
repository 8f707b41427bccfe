// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Synchronization
import TypeEncodings

extension Callback {
  /// Makes a callback whose calls become messages to an object, like `_objc_msgForward`.
  ///
  /// A C library has one slot for a callback, and its function has no receiver or selector. This
  /// callback fills the slot and sends each call on as a message, through the object's methods or its
  /// forwarding steps. So the slot can reach a proxy with many targets:
  ///
  /// ```swift
  /// let changed = try Callback(
  ///   to: observers, selector: "changed:in:", encoding: "v^vi*", skipping: 1)
  /// changed.plan.signature  // v^vi*
  /// ```
  ///
  /// - Parameters:
  ///   - receiver: the object, which is referenced weakly unless `strongly` is true.
  ///   - encoding: the C function's type, as a plain function.
  ///   - skipping: the number of leading arguments that are not sent on, such as a context pointer.
  ///   - onError: gets the error that a call throws; C then gets zero. C also gets zero after the
  ///     object has died, and a ``ForwardingEvent`` reports the first such call.
  /// - Throws: ``InvocationError/signatureMismatch(name:expected:given:)`` if the object answers
  ///   the selector with other types; methods that it gets later are compared at each call.
  ///   ``InvocationError/encoding(_:)`` if the encoding is invalid or does not fit the selector;
  ///   ``InvocationError/indexOutOfBounds(index:count:)`` if `skipping` exceeds the number of
  ///   arguments; the errors of the other initializers.
  public convenience init(
    to receiver: AnyObject, strongly: Bool = false, selector: Selector, encoding: String,
    skipping: Int = 0, onError: @escaping Callback.ErrorHandler = Callback.report
  ) throws(InvocationError) {
    let function = try InvocationError.wrapping { () throws(TypeEncodingError) in
      try MethodSignature(parsing: encoding)
    }
    guard (0...function.numberOfArguments).contains(skipping) else {
      throw .indexOutOfBounds(index: skipping, count: function.numberOfArguments)
    }
    let sent = function.argumentTypes.dropFirst(skipping).map { "\($0)" }.joined()
    let spelled = "\(function.resultType)@:\(sent)"
    let message = try InvocationError.wrapping { () throws(TypeEncodingError) in
      try MethodSignature(method: spelled, selector: selector.name)
    }
    let plan = try CallPlan.shared(for: function)
    if (unsafe plan.result.pointee.kind).isOwnable {
      throw .ownedResultInCallback(function.resultType)
    }
    // Compares the method that the receiver has now. Methods that it gets later are compared at
    // each call.
    if let known = Introspection.signature(of: receiver, for: selector),
      !known.isInterchangeable(with: message)
    {
      throw .signatureMismatch(name: selector.name, expected: known, given: message)
    }
    let passage = MessageBridge(
      plan: plan, message: try CallPlan.shared(for: message), selector: selector,
      skipping: skipping,
      receiver: ObjectReference(receiver, isStrong: strongly))
    try self.init(Answer(plan, { frame in try passage.pass(frame) }, onError))
  }
}

/// Sends calls on as messages.
private final class MessageBridge: Sendable {
  private let plan: CallPlan
  private let message: CallPlan
  private let selector: Selector
  private let receiver: ObjectReference
  private let skipping: Int
  private let isToldDead = Atomic(false)

  init(
    plan: CallPlan, message: CallPlan, selector: Selector, skipping: Int,
    receiver: ObjectReference
  ) {
    self.plan = plan
    self.message = message
    self.selector = selector
    self.receiver = receiver
    self.skipping = skipping
  }

  /// Reports a dead receiver once, because C may call for as long as the process runs.
  @inline(never)
  private func tellDead() {
    guard !isToldDead.exchange(true, ordering: .relaxed) else { return }
    EventReports.report(.deadReceiver(selector, receiver.type))
  }

  func pass(_ frame: FrameReference) throws {
    guard let receiver = unsafe receiver.retained() else { return tellDead() }
    defer { unsafe self.receiver.release(receiver) }
    try SpareInvocations.withOne(message) { spare in
      let call = spare.call
      for index in skipping..<plan.argumentCount {
        // SAFETY: the frames are of these two plans, and the arguments have the same types in both.
        unsafe fwd_slot_move(
          plan.slots + index, frame.base, message.slots + (index - skipping + 2), call.frame)
      }
      call.setSelector(selector)
      call.receiverWord = UInt64(UInt(bitPattern: receiver))
      defer { call.receiverWord = 0 }
      // Not `dispatch`, because a spare invocation caches no method.
      try spare.dispatchByLookup(call.receiver)
      guard call.hasResult else { return }
      let result = frame.result(of: plan)
      // SAFETY: the result has the same size and pieces in both frames.
      unsafe (frame.base + Int(result.slot.pointee.offset)).copyMemory(
        from: call.frame + Int(message.result.pointee.offset), byteCount: max(8, result.size))
    }
  }
}
