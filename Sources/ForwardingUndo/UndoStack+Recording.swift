// SPDX-License-Identifier: Apache-2.0
public import Forwarding
import Invocations

extension UndoStack {
  /// Records how a change is undone: as the messages that `body` sends to its proxy. The undo
  /// performs them, and nothing is performed before.
  ///
  /// ```
  /// undo.record(on: document, as: DocumentProxy.self) { $0.setTitle(old) }
  /// ```
  ///
  /// One undo performs all messages of one `body`, in the order in which `body` sent them. A
  /// message with a result returns the default answer of its requirement. If `body` throws, nothing
  /// is recorded.
  ///
  /// The target is retained only if `strongly` is true.
  ///
  /// - Returns: false if recording is disabled, a message was refused, or no message was sent.
  /// - Throws: the error of `body`. It is ``UndoError/wantsResult(_:)`` if `body` ended because a
  ///   recorded message has no result.
  @discardableResult
  public func record<Proxy: GeneratedProxy>(
    on target: Proxy.__Target, as proxy: Proxy.Type, strongly: Bool = false,
    coalescing: UndoCoalescing? = nil, _ body: (Proxy) throws -> Void
  ) rethrows -> Bool {
    if isIgnoring { return false }
    let recorder = takeRecorder(proxy)
    let object = recorder.prepare(target, for: proxy)
    do { try recorder.record(body) } catch {
      let selector = recorder.untyped.end().calls.last?.selector
      giveBack(recorder)
      if case ForwardingError.nobodyAnswered(let unanswered?) = error, unanswered == selector {
        throw UndoError.wantsResult(unanswered)
      }
      throw error
    }
    let isStrong = strongly || Proxy.__isBox(object)
    if let call = recorder.untyped.endWithOne() {
      giveBack(recorder)
      add(.call(call, reference(to: object, isStrong)), coalescing)
      return true
    }
    let (calls, failure) = recorder.untyped.end()
    giveBack(recorder)
    if let failure {
      // An incomplete record would undo only a part of the change.
      diagnose(.notRecorded(failure.selector, failure.error))
      return false
    }
    let reference = reference(to: object, isStrong)
    // Steps are undone in reverse order.
    let steps = calls.reversed().map { Step.call($0, reference) }
    guard let step = steps.asOne(name: nil) else { return false }
    add(step, coalescing)
    return true
  }

  /// A proxy and the untyped one behind it, which no record uses now.
  private func takeRecorder<Proxy: GeneratedProxy>(_ type: Proxy.Type) -> ProxyRecorder {
    defer { freeRecorder = nil }
    if let freeRecorder, freeRecorder.type == ObjectIdentifier(type) { return freeRecorder }
    return ProxyRecorder(type)
  }

  /// Keeps a proxy for the next record, unless other code has retained it.
  private func giveBack(_ recorder: ProxyRecorder) {
    if recorder.isFree { freeRecorder = recorder }
  }

  /// Returns a reference to a target.
  private func reference(to object: AnyObject, _ strongly: Bool) -> ObjectReference {
    if !strongly, let lastTarget, lastTarget.identity == ObjectIdentifier(object) {
      return lastTarget
    }
    let reference = ObjectReference(object, isStrong: strongly)
    // A strong reference is not reused: it would retain its target for longer than its steps.
    lastTarget = strongly ? nil : reference
    return reference
  }

  // MARK: Without a proxy

  /// Records a message with its arguments. The result of the message is ignored.
  ///
  /// - Returns: false if recording is disabled.
  /// - Throws: `InvocationError` if the target has no such method, one with other types, or an
  ///   `async` one; `ForwardingError.borrowedArgument` if an argument points to memory that the call
  ///   does not own.
  @discardableResult
  public func record<Result, each Argument>(
    on target: AnyObject, _ message: Message<Result, repeat each Argument>,
    _ arguments: repeat each Argument, strongly: Bool = false, coalescing: UndoCoalescing? = nil
  ) throws -> Bool {
    try record(
      on: target, message.invocation(repeat each arguments), strongly: strongly,
      coalescing: coalescing)
  }

  /// Records a copy of a call, with its current arguments.
  ///
  /// - Returns: false if recording is disabled.
  /// - Throws: the errors of a record by a message.
  @discardableResult
  public func record(
    on target: AnyObject, _ call: Invocation, strongly: Bool = false,
    coalescing: UndoCoalescing? = nil
  ) throws -> Bool {
    if isIgnoring { return false }
    let recorded = try KeptCall.recording(call.call, to: type(of: target))
    // A call that the target can never perform is refused now.
    if call.call.methodWithoutSuspension(of: target) == nil,
      try call.call.checkMethod(of: target)
    {
      throw InvocationError.notAwaited(call.selector)
    }
    add(.call(recorded, reference(to: target, strongly)), coalescing)
    return true
  }

  /// Records a closure. It gets the target as its argument, because capturing the target would
  /// retain it.
  ///
  /// - Parameter label: describes the closure in ``steps``.
  /// - Returns: false if recording is disabled.
  @discardableResult
  public func record<Target: AnyObject>(
    on target: Target, strongly: Bool = false, label: String = "closure",
    coalescing: UndoCoalescing? = nil, _ body: @escaping (Target) throws -> Void
  ) -> Bool {
    if isIgnoring { return false }
    // The cast always succeeds: the step refers to this target.
    let closure = RecordedClosure(reference(to: target, strongly), label) { object in
      if let target = object as? Target { try body(target) }
    }
    add(.run(closure), coalescing)
    return true
  }
}
