// SPDX-License-Identifier: Apache-2.0
import Invocations

/// A target as a multicast registers it: the object itself, or a box that holds a value.
struct RegisteredTarget {
  let object: AnyObject
  /// Whether the object is a box, which nothing else retains.
  let isBox: Bool
  let witnesses: FaceWitnesses?

  /// A target of a multicast without a face.
  init<Subject>(of target: Subject) {
    // Where Objective-C is missing, the object in an `any Error` cannot be taken out: it is a value.
    isBox = !FaceMessage.isObject(target) || Subject.self == (any Error).self
    object = isBox ? SubjectBox(target) : target as AnyObject
    witnesses = isBox ? nil : SubjectWitnesses.of(target, object)
  }

  /// A target of a face.
  init<Face: ForwardingFace>(_ target: Face.__Target, of face: Face.Type) {
    object = Face.__receiver(of: target)
    isBox = Face.__isBox(object)
    witnesses = Face.__witnesses(of: object)
  }

  /// A face as a target of its own kind, where the compiler does not know that it is one.
  init<Face: ForwardingFace>(of target: Any, for face: Face.Type) {
    guard let target = target as? Face.__Target else {
      fatalError("\(Face.self) does not conform to its protocol here")
    }
    self.init(target, of: face)
  }

  func request(
    to proxy: MulticastProxy, strongly: Bool, on lane: DeliveryLane, priority: Int?,
    group: String? = nil, once: Bool = false
  ) -> Registrations.Request {
    Registrations.Request(
      proxy: proxy, target: object, isStrong: strongly || isBox, lane: lane.leavingQuestions(),
      priority: priority, group: group, isOnce: once, isBox: isBox,
      witnesses: witnesses)
  }

  /// The object that stands for a target in the list: for a face, the proxy behind it. Its
  /// `@Otherwise` is for its own senders, and a cycle of proxies is detected.
  static func receiver(_ object: AnyObject) -> AnyObject {
    // Most targets are not faces. A cast that fails searches all conformances of the program.
    guard KnownFaces.contain(type(of: object)), let face = object as? any ForwardingFace else {
      return object
    }
    return face.__forwarder.proxy as? any SharedProxy ?? object
  }
}

/// Holds a target that is not an object.
final class SubjectBox<Subject>: ManyTargets {
  let value: Subject
  init(_ value: Subject) { self.value = value }
  var __targetType: Any.Type { type(of: value as Any) }
}
