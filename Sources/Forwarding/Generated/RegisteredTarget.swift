// SPDX-License-Identifier: Apache-2.0
import Invocations

/// A target as a multicast registers it: the object itself, or a box that holds a value.
struct RegisteredTarget {
  let object: AnyObject
  /// Whether the object is a box, which nothing else retains.
  let isBox: Bool
  let witnesses: ProxyWitnesses?

  /// A target of a multicast without a proxy.
  init<Subject>(of target: Subject) {
    // Where Objective-C is missing, the object in an `any Error` cannot be taken out: it is a value.
    isBox = !_ProxyMessage.isObject(target) || Subject.self == (any Error).self
    object = isBox ? ValueBox(target) : target as AnyObject
    witnesses = WitnessRecords.witnesses(of: target, object)
  }

  /// A target of a proxy.
  init<Proxy: GeneratedProxy>(_ target: Proxy.__Target, of proxy: Proxy.Type) {
    object = Self.receiver(Proxy.__prepare(target))
    isBox = Proxy.__isBox(object)
    witnesses = WitnessRecords.witnesses(of: type(of: object), for: Proxy.self)
  }

  /// A proxy as a target of its own kind, where the compiler does not know that it is one.
  init<Proxy: GeneratedProxy>(of target: Any, for proxy: Proxy.Type) {
    guard let target = target as? Proxy.__Target else {
      fatalError("\(Proxy.self) does not conform to its protocol here")
    }
    self.init(target, of: proxy)
  }

  func request(
    to untyped: MulticastProxy, strongly: Bool, on lane: DeliveryLane, priority: Int?,
    group: String? = nil, once: Bool = false
  ) -> Registrations.Request {
    Registrations.Request(
      proxy: untyped, target: object, isStrong: strongly || isBox, lane: lane.leavingQuestions(),
      priority: priority, group: group, isOnce: once, isBox: isBox,
      witnesses: witnesses)
  }

  /// The object that stands for a target in the list: for a proxy, the untyped one behind it. Its
  /// `@Otherwise` is for its own senders, and a cycle of proxies is detected.
  static func receiver(_ object: AnyObject) -> AnyObject {
    // Most targets are not proxies. A cast that fails searches all conformances of the program.
    guard KnownProxies.contain(type(of: object)), let proxy = object as? any GeneratedProxy else {
      return object
    }
    return proxy.__forwarder.untyped as? any SharedProxy ?? object
  }
}
