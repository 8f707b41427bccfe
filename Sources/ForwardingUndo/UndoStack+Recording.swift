public import Forwarding
import Invocations

extension UndoStack {
  /// Records what takes a change back, as messages to a target: those that `body` sends to the face that it gets. Nothing
  /// is performed before the undo. False if nothing was recorded, because recording is disabled or no message came.
  ///
  /// ```
  /// undo.record(on: document, as: DocumentProxy.self) { $0.setTitle(old) }
  /// ```
  ///
  /// Several messages of one `body` are one undo, and are sent in the order in which they stand there. A message with a
  /// result answers what its requirement says for when nobody answers. If `body` throws, nothing is recorded.
  ///
  /// - Parameter strongly: whether the target is kept alive. It is not unless told so.
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

  /// A face that somebody has kept is not used again.
  private func giveBack(_ face: RecordingFace) {
    if !face.isFree, records.face === face { records.face = nil }
  }

  func add(
    _ calls: [RecordedCall], _ failure: (Selector?, any Error)?, _ object: AnyObject,
    _ strongly: Bool, _ coalescing: UndoCoalescing?
  ) -> Bool {
    if let failure {
      // A part of a record would undo a part of a change.
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
    // What is recorded last is undone first.
    let steps = calls.reversed().map { Step.call($0, target) }
    add(.group(StepGroup(name: nil, steps: steps)), coalescing)
    return true
  }

  /// Refers to a target.
  func reference(to object: AnyObject, _ strongly: Bool) -> ObjectReference {
    if let known = records.reference(to: object, strongly) { return known }
    let reference = ObjectReference(object, isStrong: strongly)
    // One that keeps its object would do so for longer than its steps.
    records.lastTarget = strongly ? nil : reference
    return reference
  }

  // MARK: Without a face

  /// Records a message with its arguments for a target. A result that it has is ignored.
  ///
  /// Throws if the target has no such method, or one of other types, or if an argument refers to memory that nobody
  /// keeps. False if recording is disabled.
  @discardableResult
  public func record<Result, each Argument>(
    on target: AnyObject, _ message: Message<Result, repeat each Argument>,
    _ arguments: repeat each Argument, strongly: Bool = false, coalescing: UndoCoalescing? = nil
  ) throws -> Bool {
    if isIgnoring { return false }
    return try keep(
      message.invocation(repeat each arguments), for: target, strongly, coalescing)
  }

  /// Records a call for a target: a copy of it, with its arguments as they are now. Refused as a message is.
  @discardableResult
  public func record(
    on target: AnyObject, _ call: Invocation, strongly: Bool = false,
    coalescing: UndoCoalescing? = nil
  ) throws -> Bool {
    if isIgnoring { return false }
    return try keep(call.recordedCopy(), for: target, strongly, coalescing)
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

  /// Refuses a call that the target could never perform. It asks once for calls that follow each other.
  private func check(_ call: Invocation, for target: AnyObject) throws {
    let check = RecordCheck(
      type: ObjectIdentifier(type(of: target)), plan: ObjectIdentifier(call.plan),
      selector: call.selector)
    if lastCheck == check { return }
    guard try call.directMethod(of: target) == nil else { return lastCheck = check }
    // An object that forwards may do so later.
    guard let selector = call.selector, !(target is any MessageForwarding),
      !Introspection.responds(target, to: selector)
    else { return }
    throw InvocationError.unrecognized(selector, by: target)
  }

  /// Records a closure for a target, which it gets as its argument: to refer to the target itself would keep it alive.
  /// `label` is what ``steps`` say of it.
  @discardableResult
  public func record<Target: AnyObject>(
    on target: Target, strongly: Bool = false, label: String = "closure",
    coalescing: UndoCoalescing? = nil, _ body: @escaping (Target) throws -> Void
  ) -> Bool {
    keep(target, strongly, label, coalescing, .once { try body(known($0)) })
  }

  /// Records an `async` closure for a target. It runs where the undo is awaited.
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

/// A call that a target was found to perform.
struct RecordCheck: Equatable {
  let type: ObjectIdentifier
  let plan: ObjectIdentifier
  let selector: Selector?
}
