/// A class that stands for the targets of a proxy where an object of a protocol is wanted.
///
/// `@Forwardable` makes one for a protocol; nobody needs to write one. Its objects conform to the protocol,
/// and send each requirement to a proxy.
///
/// ```swift
/// func tellAll<Face: ForwardingFace>(_ targets: [Face.__Target]) -> Multicast<Face> {
///   let all = Multicast<Face>()
///   for target in targets { all.add(target) }
///   return all
/// }
/// ```
///
/// Its members begin with two underscores, as they stand beside those of the protocol and the types that it names.
public protocol ForwardingFace: FaceObject {
  /// Anything that conforms to the protocol.
  associatedtype __Target

  /// One that threads may share.
  associatedtype __SendableTarget

  /// The arguments and results of all messages, as a tuple: it is `Sendable` if all are.
  associatedtype __Values

  /// The names of the protocol's messages.
  associatedtype __Messages: FaceMessages

  /// Where its messages go.
  var __forwarder: FaceForwarder { get }

  /// Makes a face in front of a proxy, which it keeps.
  init(forwardingTo proxy: any ForwardingProxy & Sendable)

  /// A target that threads may share, as any.
  static func __target(_ target: __SendableTarget) -> __Target

  /// Lets the class of a target answer the messages of the protocol, and returns the object that stands for it: the
  /// target, or a box of its own with a value. Quick, from the second time on.
  @discardableResult static func __prepare(_ target: __Target) -> AnyObject

  /// A target as the object that it is; nil for a value.
  static func __object(of target: __Target) -> AnyObject?

  /// Whether an object is a box, which nothing else holds.
  static func __isBox(_ object: AnyObject) -> Bool

  /// The target that an object stands for, if it is of the protocol.
  static func __target(behind object: AnyObject) -> __Target?

  /// Where the tables of a target have that of a protocol: 0 for the one of this face, more for those that it
  /// inherits.
  nonisolated static func __place(of face: AnyClass) -> Int

  /// Whether a protocol is that of this face, or one that it inherits.
  nonisolated static func __knows(_ face: AnyClass) -> Bool

  /// How many protocols that are, the face's own among them.
  nonisolated static var __places: Int { get }
}

/// The messages of a protocol by their names: a ``Requirement`` for each.
///
/// `@Forwardable` makes one in each face. A name is that of the requirement and its labels, in one word:
/// `chat(_:shouldSend:)` is `chatShouldSend`, and what sets the property `draft` is `setDraft`.
///
/// ```swift
/// struct DoorMessages: FaceMessages {
///   var close: Requirement<Void> { Requirement("close") }
/// }
/// DoorMessages().close.selector  // close
/// ```
public protocol FaceMessages: Sendable {
  /// Makes the names.
  init()
}

extension ForwardingFace {
  public static func __object(of target: __Target) -> AnyObject? {
    FaceMessage.isObject(target) ? target as AnyObject : nil
  }

  public static func __isBox(_ object: AnyObject) -> Bool { false }

  public static func __target(behind object: AnyObject) -> __Target? { object as? __Target }

  /// A face of a protocol that inherits none.
  @inlinable
  public nonisolated static func __place(of face: AnyClass) -> Int { 0 }

  @inlinable
  public nonisolated static func __knows(_ face: AnyClass) -> Bool { face == self }

  @inlinable
  public nonisolated static var __places: Int { 1 }

  /// How the face calls a target, which it has prepared.
  static func __witnesses(of object: AnyObject) -> FaceWitnesses? {
    WitnessRecords.witnesses(of: Swift.type(of: object), for: self)
  }

  /// A target as messages reach it, which are prepared for its class. A face is the proxy behind it, so that a circle
  /// of proxies is found.
  static func __receiver(of target: __Target) -> AnyObject {
    __forwarder(behind: __prepare(target))
  }

  /// The same for a target that may have been added; nil for a value, which is another one each time.
  static func __known(_ target: __Target) -> AnyObject? {
    __object(of: target).map { __forwarder(behind: $0) }
  }

  private static func __forwarder(behind object: AnyObject) -> AnyObject {
    // Most targets are none: the class is known to have no say.
    guard object is any CustomAnswering, let face = object as? any ForwardingFace else {
      return object
    }
    return face.__forwarder.proxy.asForwarder ?? object
  }

  /// The target that a receiver is.
  static func __found(_ receiver: AnyObject) -> __Target? {
    if let target = __target(behind: receiver) { return target }
    guard let forwarder = (receiver as? ForwardingProxy)?.asForwarder else { return nil }
    return Self(forwardingTo: forwarder) as? __Target
  }
}

extension ForwardingProxy {
  /// This proxy, if it sends messages on to objects of this process.
  fileprivate var asForwarder: (any ForwardingProxy & Sendable)? {
    switch self {
    case let proxy as MulticastProxy: proxy
    case let proxy as SingleTargetProxy: proxy
    case let proxy as InterceptingProxy: proxy
    default: nil
    }
  }
}
