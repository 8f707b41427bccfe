// SPDX-License-Identifier: Apache-2.0
public import Forwarding
import Invocations

extension UndoStack {
  /// Records how a change is undone: as the messages that `body` sends to its face. The undo
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
  /// - Parameters:
  ///   - target: the receiver of the messages.
  ///   - face: the type of the face that `body` gets.
  ///   - strongly: whether the target is retained; false by default.
  ///   - coalescing: how the record joins the one before it; nil for not at all.
  ///   - body: sends the messages to the face.
  /// - Returns: false if recording is disabled, a message was refused, or no message was sent.
  /// - Throws: the error of `body`. It is ``UndoError/wantsResult(_:)`` if `body` ended because a
  ///   recorded message has no result.
  @discardableResult
  public func record<Face: ForwardingFace>(
    on target: Face.__Target, as face: Face.Type, strongly: Bool = false,
    coalescing: UndoCoalescing? = nil, _ body: (Face) throws -> Void
  ) rethrows -> Bool {
    if isIgnoring { return false }
    let object = Face.__object(of: target) ?? Face.__prepare(target)
    let recording = recordingFace(Face.self)
    do { try recording.record(target, object, body) } catch {
      let calls = recording.take().calls
      giveBack(recording)
      if case ForwardingError.nobodyAnswered(let selector?) = error,
        calls.last?.selector == selector
      {
        throw UndoError.wantsResult(selector)
      }
      throw error
    }
    return keep(recording, object, strongly || Face.__isBox(object), coalescing)
  }

  private func keep(
    _ recording: RecordingFace, _ object: AnyObject, _ strongly: Bool,
    _ coalescing: UndoCoalescing?
  ) -> Bool {
    if coalescing == nil, let call = recording.takeOne() {
      giveBack(recording)
      add(.call(call, reference(to: object, strongly)), nil)
      return true
    }
    let (calls, failure) = recording.take()
    giveBack(recording)
    return add(calls, failure, object, strongly, coalescing)
  }

  private func recordingFace<Face: ForwardingFace>(_ type: Face.Type) -> RecordingFace {
    if let face = records.face, face.serves(ObjectIdentifier(type)) { return face }
    let face = RecordingFace(type)
    records.face = face
    return face
  }

  /// Stops reusing a face that other code has retained.
  private func giveBack(_ face: RecordingFace) {
    if !face.isFree, records.face === face { records.face = nil }
  }

  func add(
    _ calls: [RecordedCall], _ failure: (Selector?, any Error)?, _ object: AnyObject,
    _ strongly: Bool, _ coalescing: UndoCoalescing?
  ) -> Bool {
    if let failure {
      // An incomplete record would undo only a part of the change.
      diagnose(.notRecorded(failure.0, failure.1))
      return false
    }
    guard calls.count != 1 else {
      add(.call(calls[0].ready(for: coalescing), reference(to: object, strongly)), coalescing)
      return true
    }
    guard !calls.isEmpty else {
      diagnose(.nothingRecorded(type: "\(type(of: object))"))
      return false
    }
    let target = reference(to: object, strongly)
    // Steps are undone in reverse order.
    let steps = calls.reversed().map { Step.call($0, target) }
    add(.group(StepGroup(name: nil, steps: steps)), coalescing)
    return true
  }

  /// Returns a reference to a target.
  func reference(to object: AnyObject, _ strongly: Bool) -> ObjectReference {
    if let known = records.reference(to: object, strongly) { return known }
    let reference = ObjectReference(object, isStrong: strongly)
    // A strong reference is not cached: it would retain its target for longer than its steps.
    records.lastTarget = strongly ? nil : reference
    return reference
  }

  // MARK: Without a face

  /// Records a message with its arguments. The result of the message is ignored.
  ///
  /// - Returns: false if recording is disabled.
  /// - Throws: `InvocationError` if the target has no such method, or one with other types;
  ///   `ForwardingError.borrowedArgument` if an argument points to memory that the call does not
  ///   own.
  @discardableResult
  public func record<Result, each Argument>(
    on target: AnyObject, _ message: Message<Result, repeat each Argument>,
    _ arguments: repeat each Argument, strongly: Bool = false, coalescing: UndoCoalescing? = nil
  ) throws -> Bool {
    if isIgnoring { return false }
    return try keep(
      message.invocation(repeat each arguments), for: target, strongly, coalescing)
  }

  /// Records a copy of a call, with its current arguments.
  ///
  /// - Returns: false if recording is disabled.
  /// - Throws: `InvocationError` if the target has no such method, or one with other types;
  ///   `ForwardingError.borrowedArgument` if an argument points to memory that the call does not
  ///   own.
  @discardableResult
  public func record(
    on target: AnyObject, _ call: Invocation, strongly: Bool = false,
    coalescing: UndoCoalescing? = nil
  ) throws -> Bool {
    if isIgnoring { return false }
    return try keep(call.call.recorded(), for: target, strongly, coalescing)
  }

  private func keep(
    _ call: Invocation, for target: AnyObject, _ strongly: Bool, _ coalescing: UndoCoalescing?
  ) throws -> Bool {
    try call.checkKeepable()
    try check(call, for: target)
    let kept = RecordedCall(call, isToChange: coalescing != nil)
    add(.call(kept, reference(to: target, strongly)), coalescing)
    return true
  }

  /// Refuses a call that the target can never perform. Successive calls of the same kind are
  /// checked once.
  private func check(_ call: Invocation, for target: AnyObject) throws {
    let check = RecordCheck(
      type: ObjectIdentifier(type(of: target)), plan: ObjectIdentifier(call.plan),
      selector: call.selector)
    if lastCheck == check { return }
    if try call.call.checkMethod(of: target) { lastCheck = check }
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
    keep(target, strongly, label, coalescing, .once { try body(known($0)) })
  }

  /// Records an `async` closure, which an awaited undo runs. A plain undo fails at it.
  ///
  /// - Returns: false if recording is disabled.
  @discardableResult
  @_disfavoredOverload
  public func record<Target: AnyObject>(
    on target: Target, strongly: Bool = false, label: String = "closure",
    coalescing: UndoCoalescing? = nil,
    _ body: nonisolated(nonsending) @escaping (Target) async throws -> Void
  ) -> Bool {
    keep(target, strongly, label, coalescing, .awaited { try await body(known($0)) })
  }

  private func keep(
    _ target: AnyObject, _ strongly: Bool, _ label: String, _ coalescing: UndoCoalescing?,
    _ body: RecordedClosure.Body
  ) -> Bool {
    if isIgnoring { return false }
    add(.run(RecordedClosure(reference(to: target, strongly), label, body)), coalescing)
    return true
  }
}

/// Identifies a call that a target was found to be able to perform.
struct RecordCheck: Equatable {
  let type: ObjectIdentifier
  let plan: ObjectIdentifier
  let selector: Selector?
}
