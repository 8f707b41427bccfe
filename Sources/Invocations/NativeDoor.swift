public import TypeEncodings

/// A C function pointer whose calls become messages to an object: what `_objc_msgForward` is.
///
/// A C library has one slot for a callback, and its function knows nothing of receivers and
/// selectors. A door gives it a function, and sends each call on as a message, through the object's
/// methods or its steps of forwarding; so the slot can reach a proxy with many targets:
///
/// ```swift
/// let door = try NativeDoor(to: observers, selector: "changed:in:", encoding: "v^vi*", skipping: 1)
/// ```
///
/// The pointer is good while the door lives, on every thread.
public final class NativeDoor: Sendable {
  private let callback: Callback
  /// The selector that calls are sent as.
  public let selector: Selector
  /// The message's signature: the function's, with a receiver and a selector in front.
  public let signature: MethodSignature

  /// Opens a door to an object, which is held weakly unless `strongly` says otherwise.
  ///
  /// - Parameters:
  ///   - encoding: the C function's type, as a plain function.
  ///   - skipping: how many leading arguments, such as a context pointer, are not sent on.
  ///   - onError: gets what a call threw; C gets zero then. So it does when the object is gone.
  public init(
    to receiver: AnyObject, strongly: Bool = false, selector: String, encoding: String,
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
      try MethodSignature(method: spelled, selector: selector)
    }
    let plan = try CallPlan.shared(for: message)
    let name = try Selector(selector)
    let reference = ObjectReference(receiver, isStrong: strongly)
    callback = try Callback(function, onError: onError) { call in
      guard let receiver = reference.object else { return }
      let sending = Invocation(plan, comparedSelector: name)
      for index in skipping..<call.plan.argumentCount {
        sending.borrowArgument(index - skipping + 2, from: call, index)
      }
      try sending.send(to: receiver)
      call.takeResult(from: sending)
    }
    self.selector = name
    self.signature = message
  }

  /// The address of the C function.
  public var address: UnsafeRawPointer { unsafe callback.address }

  /// The function as a C function type.
  ///
  /// - Safety: `type` must be the C type that the encoding describes.
  @unsafe
  public func function<Function>(
    as type: Function.Type
  ) throws(InvocationError) -> Function {
    unsafe try callback.function(as: type)
  }
}
