import Forwarding

/// A face and the recorder behind it, to be used again.
struct SpareFace {
  let face: AnyObject
  let recorder: CallRecorder
  let type: ObjectIdentifier
  /// The class that was prepared to answer last.
  var prepared: ObjectIdentifier?
}

/// A face in use.
struct RecordingFace<Face: ForwardingFace> {
  var face: Face
  let recorder: CallRecorder
  var prepared: ObjectIdentifier?

  init() {
    recorder = CallRecorder()
    face = Face(forwardingTo: recorder)
  }

  /// Takes up one that was used for the same protocol.
  init?(_ spare: SpareFace) {
    guard spare.type == ObjectIdentifier(Face.self) else { return nil }
    // SAFETY: the type of the face was noted when it was put away.
    face = unsafe unsafeDowncast(spare.face, to: Face.self)
    recorder = spare.recorder
    prepared = spare.prepared
  }

  /// Lets the class of a target answer.
  mutating func prepare(_ target: Face.Target, _ object: AnyObject) {
    let type = ObjectIdentifier(Swift.type(of: object))
    if prepared == type { return }
    Face.prepare(target)
    prepared = type
  }

  /// Puts it away, unless somebody has kept the face.
  consuming func putAway() -> SpareFace? {
    guard isKnownUniquelyReferenced(&face) else { return nil }
    return SpareFace(
      face: face, recorder: recorder, type: ObjectIdentifier(Face.self), prepared: prepared)
  }
}

/// A target as what it was when it was recorded for.
func known<Target: AnyObject>(_ object: AnyObject) -> Target {
  // SAFETY: the closure is kept together with a reference to an object of this class.
  unsafe unsafeDowncast(object, to: Target.self)
}
