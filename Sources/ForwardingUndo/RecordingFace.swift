import Forwarding

/// A face and the recorder behind it, which records use one after the other.
final class RecordingFace {
  let recorder = CallRecorder()
  /// Of whom it is the face.
  let type: ObjectIdentifier
  private var face: AnyObject
  /// The class that was prepared to answer last.
  private var prepared: ObjectIdentifier?

  init<Face: ForwardingFace>(_ type: Face.Type) {
    self.type = ObjectIdentifier(type)
    face = Face(forwardingTo: recorder)
  }

  /// Lets the class of a target answer, and sends it what `body` sends to the face.
  @inline(never)
  func record<Face: ForwardingFace>(
    _ target: Face.Target, _ object: AnyObject, _ body: (Face) throws -> Void
  ) rethrows {
    let type = ObjectIdentifier(Swift.type(of: object))
    if prepared != type {
      Face.prepare(target)
      prepared = type
    }
    recorder.begin()
    // SAFETY: `type` says what the face is, and who calls has compared it.
    try body(unsafe unsafeDowncast(face, to: Face.self))
  }

  /// Whether nobody has kept the face.
  var isFree: Bool { isKnownUniquelyReferenced(&face) }
}

/// A target as what it was when it was recorded for.
func known<Target: AnyObject>(_ object: AnyObject) -> Target {
  // SAFETY: the closure is kept together with a reference to an object of this class.
  unsafe unsafeDowncast(object, to: Target.self)
}
