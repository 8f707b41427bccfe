import Forwarding
import Invocations
import Synchronization

/// A face and the recorder behind it, which records use one after the other.
@safe
final class RecordingFace {
  private let recorder = CallRecorder()
  /// Of whom it is the face.
  let type: ObjectIdentifier
  // SAFETY (all): used by the actor or thread that the stack belongs to, for an instant each time.
  @exclusivity(unchecked) private var face: AnyObject
  /// The same, to be passed without counting it.
  private let lent: Unmanaged<AnyObject>
  /// The class that was prepared to answer last.
  @exclusivity(unchecked) private var prepared: ObjectIdentifier?
  /// Whether a record is under way, so that one inside of it takes another face.
  @exclusivity(unchecked) private var isBusy = false

  init<Face: ForwardingFace>(_ type: Face.Type) {
    self.type = ObjectIdentifier(type)
    let made = Face(forwardingTo: recorder)
    unsafe (face, lent) = (made, .passUnretained(made))
  }

  /// Whether records of a protocol may use it now.
  func serves(_ type: ObjectIdentifier) -> Bool {
    // SAFETY: as above.
    unsafe self.type == type && !isBusy
  }

  /// Lets the class of a target answer, and keeps what `body` sends to the face until ``take()`` or ``takeOne()``.
  @inline(never)
  func record<Face: ForwardingFace>(
    _ target: Face.__Target, _ object: AnyObject, _ body: (Face) throws -> Void
  ) rethrows {
    let type = ObjectIdentifier(Swift.type(of: object))
    // SAFETY: as above.
    if unsafe prepared != type {
      Face.__prepare(target)
      unsafe prepared = type
    }
    unsafe isBusy = true
    recorder.begin()
    // SAFETY: `type` says what the face is, and who calls has compared it. The face is there for as long as this is.
    try unsafe lent._withUnsafeGuaranteedRef { try body(unsafe unsafeDowncast($0, to: Face.self)) }
  }

  /// Ends the record; returns the call, if there was one and nothing else.
  func takeOne() -> RecordedCall? {
    guard let call = recorder.takeOne() else { return nil }
    unsafe isBusy = false
    return call
  }

  /// Ends the record; returns what came, and what was refused first.
  func take() -> (calls: [RecordedCall], failure: (Selector?, any Error)?) {
    unsafe isBusy = false
    return recorder.take()
  }

  /// Whether nobody has kept the face.
  var isFree: Bool { unsafe isKnownUniquelyReferenced(&face) }
}

/// What stands behind a face while it records: it keeps each message, and sends none.
final class CallRecorder: ForwardingProxy, CallForwarding, @unchecked Sendable {
  // SAFETY: all but `owner` is for the thread that `owner` names alone. It names one from `begin` to `end`, which
  // both run there, and nobody else changes it.
  private let owner = Atomic<UInt>(0)
  /// The first call, and all others: most records have one.
  @exclusivity(unchecked) private var first: RecordedCall?
  @exclusivity(unchecked) private var others: [RecordedCall] = []
  /// Whether there is more than the first.
  @exclusivity(unchecked) private var hasMore = false
  @exclusivity(unchecked) private var failure: (Selector?, any Error)?

  static var callForwardingClass: AnyClass { CallRecorder.self }

  /// Keeps messages of this thread from here on.
  func begin() { owner.store(ThreadMark.current, ordering: .relaxed) }

  /// Keeps no more; returns what came, and what was refused first.
  func take() -> (calls: [RecordedCall], failure: (Selector?, any Error)?) {
    owner.store(0, ordering: .relaxed)
    let calls = unsafe (first.map { [$0] } ?? []) + others
    let failure = unsafe self.failure
    unsafe (first, others, hasMore, self.failure) = (nil, [], false, nil)
    return (calls, failure)
  }

  /// The same, if all that came is one call that was kept.
  func takeOne() -> RecordedCall? {
    // Taken out, and not copied: to count a reference takes as long as to write the call.
    guard unsafe !hasMore, let call = unsafe first.take() else { return nil }
    owner.store(0, ordering: .relaxed)
    return call
  }

  func forward(_ call: Call) throws {
    guard isRecording else { throw UndoError.notRecording(call.selector) }
    if let packed = call.packed() { keep(.packed(packed)) } else { try keep(call.recorded()) }
    // The face has an answer of its own where nobody gives one, or throws this.
    if call.returnsValue { throw ForwardingError.nobodyAnswered(call.selector) }
  }

  override func forward(_ invocation: Invocation) throws {
    guard isRecording else { throw UndoError.notRecording(invocation.selector) }
    try keep(invocation.recordedCopy())
    if invocation.returnsValue { throw ForwardingError.nobodyAnswered(invocation.selector) }
  }

  private var isRecording: Bool {
    let thread = ThreadMark.current
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

  /// It takes any message: the types are those of the protocol, and its targets have methods of these.
  override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch { .fits }

  override func responds(to selector: Selector) -> Bool { true }

  func targetMethod(for selector: Selector) -> Implementation? { nil }
}

/// What a record looks at each time.
///
/// The stack belongs to one actor or thread, and each of these is read or written for an instant, without other code in
/// between: to check that at run time would cost as much as the record.
@safe
final class RecordState {
  // SAFETY (all): as above. What is replaced is given back, and dies when the instant is over.
  @exclusivity(unchecked) private var entries = EntryList()
  @exclusivity(unchecked) private var number = 0
  @exclusivity(unchecked) private var plain = true
  @exclusivity(unchecked) private var more = false
  @exclusivity(unchecked) private var target: ObjectReference?
  @exclusivity(unchecked) private var recordingFace: RecordingFace?

  /// What can be undone, newest last.
  var done: EntryList {
    get { unsafe entries }
    set {
      let old = unsafe entries
      unsafe entries = newValue
      withExtendedLifetime(old) {}
    }
  }

  /// The number of the newest state.
  @inline(__always)
  func newState() -> Int {
    unsafe number &+= 1
    return unsafe number
  }

  @inline(__always)
  func append(_ entry: consuming Entry) { unsafe entries.append(entry) }

  func popLast() -> Entry? { unsafe entries.popLast() }

  func popFirst() -> Entry? { unsafe entries.popFirst() }

  func replaceLast(_ change: (inout Entry) -> Void) { unsafe entries.replaceLast(change) }

  /// Whether nothing is to be done for a record but to keep it.
  var isPlain: Bool {
    get { unsafe plain }
    set { unsafe plain = newValue }
  }

  /// Whether a record ends something: what could be redone or coalesces, or is too old then.
  var hasMore: Bool {
    get { unsafe more }
    set { unsafe more = newValue }
  }

  /// The last target that was referred to: who is recorded for is so again and again.
  var lastTarget: ObjectReference? {
    get { unsafe target }
    set {
      let old = unsafe target
      unsafe target = newValue
      withExtendedLifetime(old) {}
    }
  }

  /// A reference to an object, if it is the one that was referred to last.
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

/// A target as what it was when it was recorded for.
func known<Target: AnyObject>(_ object: AnyObject) -> Target {
  // SAFETY: the closure is kept together with a reference to an object of this class.
  unsafe unsafeDowncast(object, to: Target.self)
}
