// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Synchronization

/// A face and the recorder behind it. Successive records reuse them.
@safe
final class RecordingFace {
  private let recorder = CallRecorder()
  /// The type of the face.
  let type: ObjectIdentifier
  // SAFETY (all): only the actor or thread that owns the stack accesses these, each time for an
  // instant.
  @exclusivity(unchecked) private var face: AnyObject
  /// The same object, unmanaged: passing it needs no retain and release.
  private let lent: Unmanaged<AnyObject>
  /// The class of the last target that was prepared for messages of the face's protocol.
  @exclusivity(unchecked) private var prepared: ObjectIdentifier?
  /// Whether a record is in progress, so that a nested record takes another face.
  @exclusivity(unchecked) private var isBusy = false

  init<Face: ForwardingFace>(_ type: Face.Type) {
    self.type = ObjectIdentifier(type)
    let made = Face(forwardingTo: recorder)
    unsafe (face, lent) = (made, .passUnretained(made))
  }

  /// Whether a record through this type of face can use it now.
  func serves(_ type: ObjectIdentifier) -> Bool {
    // SAFETY: accessed for an instant by the owner of the stack, as the properties above.
    unsafe self.type == type && !isBusy
  }

  /// Prepares the class of the target, then records what `body` sends to the face until ``take()``
  /// or ``takeOne()`` is called.
  @inline(never)
  func record<Face: ForwardingFace>(
    _ target: Face.__Target, _ object: AnyObject, _ body: (Face) throws -> Void
  ) rethrows {
    let type = ObjectIdentifier(Swift.type(of: object))
    // SAFETY: accessed for an instant by the owner of the stack, as the properties above.
    if unsafe prepared != type {
      Face.__prepare(target)
      unsafe prepared = type
    }
    unsafe isBusy = true
    recorder.begin()
    // SAFETY: `self.type` is the type of the face, and the caller has compared it with `Face` in
    // `serves(_:)`. The face lives as long as this object.
    try unsafe lent._withUnsafeGuaranteedRef { try body(unsafe unsafeDowncast($0, to: Face.self)) }
  }

  /// Ends the record if it consists of exactly one call.
  ///
  /// - Returns: the call; nil if there was none, more than one, or a refused one. Then the record
  ///   goes on until ``take()``.
  func takeOne() -> RecordedCall? {
    guard let call = recorder.takeOne() else { return nil }
    unsafe isBusy = false
    return call
  }

  /// Ends the record.
  ///
  /// - Returns: the recorded calls, and the first message that was refused, with its error.
  func take() -> (calls: [RecordedCall], failure: (Selector?, any Error)?) {
    unsafe isBusy = false
    return recorder.take()
  }

  /// Whether no other code has retained the face.
  var isFree: Bool { unsafe isKnownUniquelyReferenced(&face) }
}

/// The proxy behind a face while it records: it stores each message and sends none.
final class CallRecorder: ForwardingProxy, CallForwarding, @unchecked Sendable {
  // SAFETY: only the thread that `owner` names accesses the other properties. `owner` names a
  // thread from `begin` until `take` or `takeOne`, which run on that thread, and no other code
  // changes it.
  private let owner = Atomic<UInt>(0)
  /// The first call, apart from all others: most records have only one.
  @exclusivity(unchecked) private var first: RecordedCall?
  @exclusivity(unchecked) private var others: [RecordedCall] = []
  /// Whether there were more calls than the first, or a refused one.
  @exclusivity(unchecked) private var hasMore = false
  @exclusivity(unchecked) private var failure: (Selector?, any Error)?

  static var callForwardingClass: AnyClass { CallRecorder.self }

  /// Starts to record messages that are sent on this thread.
  func begin() { owner.store(SystemThread.current, ordering: .relaxed) }

  /// Stops recording.
  ///
  /// - Returns: the recorded calls, and the first message that was refused, with its error.
  func take() -> (calls: [RecordedCall], failure: (Selector?, any Error)?) {
    owner.store(0, ordering: .relaxed)
    let calls = unsafe (first.map { [$0] } ?? []) + others
    let failure = unsafe self.failure
    unsafe (first, others, hasMore, self.failure) = (nil, [], false, nil)
    return (calls, failure)
  }

  /// Stops recording and returns the call, if exactly one was sent and it was recorded. Returns nil
  /// and changes nothing otherwise.
  func takeOne() -> RecordedCall? {
    // Moved out rather than copied: a retain takes as long as writing the call.
    guard unsafe !hasMore, let call = unsafe first.take() else { return nil }
    owner.store(0, ordering: .relaxed)
    return call
  }

  func forward(_ call: Call) throws {
    guard isRecording else { throw UndoError.notRecording(call.selector) }
    if let stored = call.stored() { keep(.stored(stored)) } else { try keep(call.recorded()) }
    // The face catches this and returns its default answer, or throws it to the caller.
    if call.returnsValue { throw ForwardingError.nobodyAnswered(call.selector) }
  }

  override func forward(_ invocation: Invocation) throws {
    guard isRecording else { throw UndoError.notRecording(invocation.selector) }
    try keep(invocation.call.recorded())
    if invocation.call.returnsValue { throw ForwardingError.nobodyAnswered(invocation.selector) }
  }

  private var isRecording: Bool {
    let thread = SystemThread.current
    return thread != 0 && owner.load(ordering: .relaxed) == thread
  }

  private func keep(_ call: Invocation) throws {
    try refuse(call)
    keep(.whole(call))
  }

  @inline(__always)
  private func keep(_ call: RecordedCall) {
    if unsafe first == nil, unsafe !hasMore {
      unsafe first = call
    } else {
      unsafe hasMore = true
      unsafe others.append(call)
    }
  }

  @inline(never)
  private func refuse(_ call: Invocation) throws {
    do { try call.checkKeepable() } catch {
      if unsafe failure == nil { unsafe failure = (call.selector, error) }
      unsafe hasMore = true
      throw error
    }
  }

  /// Accepts any message: the types are those of the protocol, whose methods the targets have.
  override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch { .fits }

  override func responds(to selector: Selector) -> Bool { true }

  func targetMethod(for selector: Selector) -> Implementation? { nil }
}

/// What each record reads before it adds an entry.
///
/// The stack belongs to one actor or thread. Each property is read or written for an instant, with
/// no other code in between. Checking that exclusivity at run time would cost as much as the
/// record.
@safe
final class RecordState {
  // SAFETY (all): one owner accesses these, each time for an instant. A replaced value is retained
  // until the access is over and released after it.
  @exclusivity(unchecked) private var plain = true
  @exclusivity(unchecked) private var more = false
  @exclusivity(unchecked) private var target: ObjectReference?
  @exclusivity(unchecked) private var recordingFace: RecordingFace?

  /// Whether a record has nothing to do but append an entry.
  var isPlain: Bool {
    get { unsafe plain }
    set { unsafe plain = newValue }
  }

  /// Whether a record must also drop redos, end coalescing, or trim old entries.
  var hasMore: Bool {
    get { unsafe more }
    set { unsafe more = newValue }
  }

  /// The reference to the last target: successive records often have the same one.
  var lastTarget: ObjectReference? {
    get { unsafe target }
    set {
      let old = unsafe target
      unsafe target = newValue
      withExtendedLifetime(old) {}
    }
  }

  /// Returns the last reference if it refers to this object with this strength; otherwise nil.
  @inline(__always)
  func reference(to object: AnyObject, _ isStrong: Bool) -> ObjectReference? {
    guard let last = unsafe target, last.identity == ObjectIdentifier(object),
      last.isStrong == isStrong
    else { return nil }
    return last
  }

  /// The face that was used last.
  var face: RecordingFace? {
    get { unsafe recordingFace }
    set {
      let old = unsafe recordingFace
      unsafe recordingFace = newValue
      withExtendedLifetime(old) {}
    }
  }
}

/// Returns a target under the class that it had when its closure was recorded.
func known<Target: AnyObject>(_ object: AnyObject) -> Target {
  // SAFETY: the closure is stored together with a reference to an object of this class.
  unsafe unsafeDowncast(object, to: Target.self)
}
