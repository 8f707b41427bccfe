/// A class that stands for the targets of a proxy where an object of a protocol is wanted.
///
/// `@Forwardable` makes one for a protocol; nobody needs to write one. Its objects conform to the protocol,
/// and send each requirement to a proxy.
///
/// ```swift
/// func tellAll<Face: ForwardingFace>(_ targets: [Face.Target]) -> Multicast<Face> {
///   let all = Multicast<Face>()
///   for target in targets { all.add(target) }
///   return all
/// }
/// ```
public protocol ForwardingFace: AnyObject {
  /// Any object that conforms to the protocol.
  associatedtype Target

  /// One that threads may share.
  associatedtype SendableTarget

  /// The arguments and results of all requirements, as a tuple: it is `Sendable` if all are.
  associatedtype Values

  /// The names of the protocol's messages.
  associatedtype Messages: FaceMessages

  /// Where its messages go.
  var __forwarder: FaceForwarder { get }

  /// Makes a face in front of a proxy, which it keeps.
  init(forwardingTo proxy: any ForwardingProxy & Sendable)

  /// A target that threads may share, as any.
  static func target(_ target: SendableTarget) -> Target

  /// A target as an object.
  static func object(of target: Target) -> AnyObject

  /// Lets the class of a target answer the messages of the protocol. Quick, from the second time on.
  static func prepare(_ target: Target)

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
/// struct Messages: FaceMessages {
///   var close: Requirement<Void> { Requirement("close") }
/// }
/// Messages().close.selector  // close
/// ```
public protocol FaceMessages: Sendable {
  /// Makes the names.
  init()
}

extension ForwardingFace {
  /// A face of a protocol that inherits none.
  @inlinable
  public nonisolated static func __place(of face: AnyClass) -> Int { 0 }

  @inlinable
  public nonisolated static func __knows(_ face: AnyClass) -> Bool { face == self }

  @inlinable
  public nonisolated static var __places: Int { 1 }

  /// How the face calls a target, which it has prepared.
  static func witnesses(of object: AnyObject) -> FaceWitnesses? {
    WitnessRecords.witnesses(of: type(of: object), for: self)
  }

  /// A target as messages reach it. A face is the proxy behind it, so that a circle of proxies is found.
  static func receiver(of target: Target) -> AnyObject {
    let object = object(of: target)
    guard let face = object as? any ForwardingFace else { return object }
    return face.__forwarder.proxy.asForwarder ?? object
  }

  /// The target that a receiver is.
  static func target(of receiver: AnyObject) -> Target? {
    if let target = receiver as? Target { return target }
    guard let forwarder = (receiver as? ForwardingProxy)?.asForwarder else { return nil }
    return Self(forwardingTo: forwarder) as? Target
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
