// SPDX-License-Identifier: Apache-2.0
import Invocations

/// A class that conforms to a protocol, and forwards its requirements to the targets of a proxy.
///
/// `@Forwardable` writes such a class for a protocol; there is no need to write one by hand. An
/// instance takes the place of an object of the protocol, and sends each requirement to a proxy.
///
/// ```swift
/// func tellAll<Proxy: GeneratedProxy>(_ targets: [Proxy.__Target]) -> Multicast<Proxy> {
///   let all = Multicast<Proxy>()
///   for target in targets { all.add(target) }
///   return all
/// }
/// ```
///
/// The members begin with two underscores, so that they do not collide with those of the protocol,
/// or with the types that it mentions.
public protocol GeneratedProxy: _ProxySender {
  /// The existential type of the protocol.
  associatedtype __Target

  /// The existential type of a target that may be shared between threads.
  associatedtype __SendableTarget

  /// A tuple of the arguments and results of all messages. It is `Sendable` if all of them are.
  associatedtype __Values

  /// The names of the protocol's messages.
  associatedtype __Messages: _ProxyMessages

  /// Makes a proxy in front of an untyped proxy, which it retains.
  init(forwardingTo untyped: any ForwardingProxy & Sendable)

  /// Converts a target that may be shared between threads to the type of any target.
  static func __target(_ target: __SendableTarget) -> __Target

  /// Registers the class of a target for the messages of the protocol.
  ///
  /// The first call for a class is slow, the others are fast.
  ///
  /// - Returns: the object that stands for the target: the target itself, or a new box that holds a
  ///   value.
  @discardableResult static func __prepare(_ target: __Target) -> AnyObject

  /// The target as an object; nil for a value.
  static func __object(of target: __Target) -> AnyObject?

  /// Whether an object is a box. The proxy must retain a box, because nothing else does.
  static func __isBox(_ object: AnyObject) -> Bool

  /// The target that an object stands for, if it conforms to the protocol.
  static func __target(behind object: AnyObject) -> __Target?
}

/// The messages of a protocol by name: a ``Requirement`` for each.
///
/// `@Forwardable` writes such a type in each proxy. The name of a message is the requirement and its
/// labels in camel case: `chat(_:shouldSend:)` is `chatShouldSend`, and the setter of the property
/// `draft` is `setDraft`.
public protocol _ProxyMessages: Sendable {
  /// Creates the messages.
  init()
}

extension GeneratedProxy {
  public static func __object(of target: __Target) -> AnyObject? {
    _ProxyMessage.isObject(target) ? target as AnyObject : nil
  }

  public static func __isBox(_ object: AnyObject) -> Bool { false }

  public static func __target(behind object: AnyObject) -> __Target? { object as? __Target }

  /// The target that a receiver of messages stands for.
  @usableFromInline
  static func __found(_ receiver: AnyObject) -> __Target? {
    if let target = __target(behind: receiver) { return target }
    guard let untyped = receiver as? any SharedProxy else { return nil }
    return Self(forwardingTo: untyped) as? __Target
  }
}
