// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
public import TypeEncodings

import Glibc

/// A C function pointer whose calls run a Swift closure.
///
/// ```swift
/// typealias Order = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
/// let compare = try unsafe Callback { (a: UnsafePointer<Int32>, b: UnsafePointer<Int32>) -> Int32 in
///   unsafe a.pointee < b.pointee ? -1 : a.pointee > b.pointee ? 1 : 0
/// }
/// try unsafe qsort(&numbers, numbers.count, 4, compare.function(as: Order.self))
/// withExtendedLifetime(compare) {}
/// numbers  // [1, 2, 3]
/// ```
///
/// The pointer is valid on every thread while this object lives, so retain the object for as long
/// as C may call the function. The closure runs on the calling thread. A later call returns zero,
/// and a ``ForwardingEvent`` reports it, until the function is reused for another callback;
/// functions that were freed first are reused first. Never call a callback from a signal handler,
/// and never release one there: the handler may have interrupted a thread that holds a lock.
///
/// - Note: On Linux, with the direct engine, no memory is ever writable and executable: the code is
///   a page of the program's own file. On other platforms libffi provides the code, and some builds
///   of libffi map a page that is writable and executable.
@safe
public final class Callback: Sendable {
  /// Receives an error that the closure throws, because C functions cannot throw.
  public typealias ErrorHandler = @Sendable (any Error) -> Void

  /// The prepared type of the function.
  public let plan: CallPlan

  // SAFETY: made in `init`, destroyed in `deinit`, not changed in between.
  nonisolated(unsafe) let handle: OpaquePointer
  private nonisolated(unsafe) let code: UnsafeRawPointer

  /// Makes a callback of the type that the closure's types spell, or that `encoding` describes.
  ///
  /// If the closure throws, C gets zero as the result, and `onError` gets the error.
  ///
  /// - Throws: ``InvocationError/encoding(_:)`` or a mismatch error if `encoding` is invalid or
  ///   does not fit the closure; ``InvocationError/ownedResultInCallback(_:)`` for a result that C
  ///   would have to free; ``InvocationError/callbackRefused(errno:)`` or
  ///   ``InvocationError/outOfMemory`` if the system has no code or memory for another callback.
  @inlinable
  public convenience init<Value: CallValue, each Argument: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let fitted = try FittedPlan<Value, repeat each Argument>(function: encoding)
    try self.init(fitted, SwiftBody.returning(fitted, body), onError)
  }

  /// Makes a callback without a result.
  ///
  /// - Throws: The same errors as the initializer for closures with a result.
  @inlinable
  public convenience init<each Argument: CallValue>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Void
  ) throws(InvocationError) {
    try self.init(encoding: encoding, onError: onError) { (arguments: repeat each Argument) in
      try body(repeat each arguments)
      return NoResult()
    }
  }

  @available(
    *, unavailable,
    message:
      "C cannot call with a Swift value: use numbers, Bool, CallObject, CallStructure, CarriedValue, or text, pointers and objects, which may be optional"
  )
  public convenience init<Result, each Argument>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) throws(InvocationError) { throw .nullFunction }

  /// Makes a callback of any signature, whose calls are passed as invocations. C gets the result
  /// that the closure sets, or zero if it sets none.
  ///
  /// The arguments belong to C. If the closure retains the invocation, objects are retained and C
  /// strings copied; memory behind pointers is valid during the call only.
  ///
  /// - Throws: ``InvocationError/ownedResultInCallback(_:)`` for a result that C would have to
  ///   free; ``InvocationError/callbackRefused(errno:)`` or ``InvocationError/outOfMemory`` if the
  ///   system has no code or memory for another callback; the errors of `CallPlan.shared`.
  public convenience init(
    _ signature: MethodSignature, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (Invocation) throws -> Void
  ) throws(InvocationError) {
    let plan = try CallPlan.shared(for: signature)
    if (unsafe plan.result.pointee.kind).isOwnable {
      throw .ownedResultInCallback(signature.resultType)
    }
    try self.init(
      Answer(
        plan, { frame in try SpareInvocations.answer(frame, of: plan, with: body) }, onError))
  }

  /// - Parameters:
  ///   - body: answers calls from frames.
  ///   - fit: nil if `direct` cannot answer calls from registers.
  @usableFromInline
  convenience init<Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>, _ body: @escaping Implementation.Closure,
    _ onError: @escaping ErrorHandler, _ fit: CallbackFit? = nil,
    _ direct: CallbackRegisters.Body? = nil
  ) throws(InvocationError) {
    if fitted.result.ownership != .none {
      throw .ownedResultInCallback(fitted.plan.signature.resultType)
    }
    try self.init(Answer(fitted.plan, body, onError, fit == nil ? nil : direct))
  }

  init(_ answer: Answer) throws(InvocationError) {
    Self.tellsEvents
    var code: UnsafeRawPointer?
    var error: Int32 = 0
    let context = unsafe Unmanaged.passRetained(answer)
    // SAFETY: the callback owns the answer, and the answer retains the plan and the closures.
    let direct = unsafe answer.direct?.words
    let handle = unsafe fwd_callback_create(
      answer.plan.handle,
      FWDCallbackBody(
        handler: answerCall, direct: direct?.function, direct_context: direct?.context,
        fail: reportError, context: context.toOpaque(), release: releaseAnswer),
      &code, &error)
    guard let handle = unsafe handle, let code = unsafe code else {
      unsafe context.release()
      // Only libffi is left, and it would pass this value wrong.
      let refused = unsafe fwd_libffi_refuses(answer.plan.facts)
      if error == ENOTSUP, refused >= 0 {
        throw .unsupportedValue(index: Int(refused), signature: answer.plan.signature)
      }
      throw error == ENOMEM ? .outOfMemory : .callbackRefused(errno: error)
    }
    self.plan = answer.plan
    unsafe self.handle = unsafe handle
    unsafe self.code = unsafe code
  }

  deinit { unsafe fwd_callback_destroy(handle) }

  /// Installs the handler that reports events of the C core as ``ForwardingEvent``s.
  static let tellsEvents: Void = unsafe fwd_set_event_handler { event, function in
    switch event {
    case .freedCallback: EventReports.report(.deadCallback(at: UInt(bitPattern: function)))
    case .callbackWithoutMemory: unsafe EventReports.reportOutOfMemory(inCallback: function)
    }
  }

  /// The address of the function. Valid while this object lives.
  public var address: UnsafeRawPointer { unsafe code }

  /// The function, for the type that C declares. Valid while this object lives.
  ///
  /// ```swift
  /// let compare = try unsafe Callback { (a: UnsafePointer<Int32>, b: UnsafePointer<Int32>) -> Int32 in
  ///   unsafe a.pointee > b.pointee ? -1 : a.pointee < b.pointee ? 1 : 0
  /// }
  /// unsafe qsort(&numbers, numbers.count, 4, compare.pointer.function())
  /// withExtendedLifetime(compare) {}
  /// numbers  // [3, 2, 1]
  /// ```
  public var pointer: CallbackPointer { unsafe CallbackPointer(code) }

  /// The function as a C function type, such as `(@convention(c) (Int32) -> Void).self`.
  ///
  /// - Throws: ``InvocationError/notACFunction(_:)`` if `type` is not one word, such as the type of a
  ///   Swift closure.
  /// - Safety: `type` must be a C function type of this callback's signature.
  @unsafe
  public func function<Function>(
    as type: Function.Type
  ) throws(InvocationError) -> Function {
    // A C function is one word. A Swift closure type, which is easily passed by mistake, has two.
    guard MemoryLayout<Function>.size == MemoryLayout<UInt>.size else {
      throw .notACFunction(SwiftType(type))
    }
    return unsafe pointer.function()
  }

  /// Reports an error as a ``ForwardingEvent``. The default error handler of callbacks.
  public static let report: ErrorHandler = { EventReports.report(.failed(inCallback: $0)) }
}

/// The object behind C's context pointer. Lives until all calls that have begun have returned.
final class Answer: Sendable {
  let plan: CallPlan
  let body: Implementation.Closure
  let onError: Callback.ErrorHandler
  let direct: Direct?

  /// A closure that answers calls from registers.
  struct Direct: Sendable {
    let body: CallbackRegisters.Body

    /// The function of the closure, and its context, which this value retains.
    @unsafe var words: (function: UnsafeRawPointer, context: UnsafeRawPointer?) {
      unsafe unsafeBitCast(self, to: (UnsafeRawPointer, UnsafeRawPointer?).self)
    }
  }

  init(
    _ plan: CallPlan, _ body: @escaping Implementation.Closure,
    _ onError: @escaping Callback.ErrorHandler, _ direct: CallbackRegisters.Body? = nil
  ) {
    self.plan = plan
    self.body = body
    self.onError = onError
    self.direct = direct.map { Direct(body: $0) }
  }

  func fail(_ error: any Error, _ frame: FrameReference) {
    unsafe fwd_slot_clear(plan.result, frame.base)
    onError(error)
  }
}

/// The entry point from C. The C core keeps the answer alive.
private func answerCall(context: UnsafeMutableRawPointer, frame: UnsafeMutablePointer<FWDFrame>) {
  unsafe Unmanaged<Answer>.fromOpaque(context)._withUnsafeGuaranteedRef { answer in
    let frame = unsafe FrameReference(UnsafeMutableRawPointer(frame))
    do {
      try answer.body(frame)
    } catch {
      answer.fail(error, frame)
    }
  }
}

private func reportError(context: UnsafeMutableRawPointer, error: UnsafeMutableRawPointer) {
  unsafe Unmanaged<Answer>.fromOpaque(context)._withUnsafeGuaranteedRef { answer in
    // SAFETY: an error is one word, and a function that throws hands it over, retained.
    var word = unsafe error
    let error = unsafe withUnsafeMutablePointer(to: &word) {
      unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: (any Error).self).move()
    }
    answer.onError(error)
  }
}

private func releaseAnswer(context: UnsafeMutableRawPointer) {
  unsafe Unmanaged<Answer>.fromOpaque(context).release()
}

// Callbacks with ownable results are refused, so this hands over no ownership for them.
extension Invocation {
  /// Writes the result, or zero, into another frame of the same plan.
  @unsafe
  func giveResult(to other: UnsafeMutableRawPointer) {
    guard call.hasResult else { return unsafe fwd_slot_clear(plan.result, other) }
    // The caller becomes the owner of the result: a retained object, or a string to free.
    call.keepResult()
    call.resultOwnership = .none
    let offset = unsafe Int(plan.result.pointee.offset)
    let size = max(8, call.resultSlot.size)
    unsafe (other + offset).copyMemory(from: call.frame + offset, byteCount: size)
  }
}
