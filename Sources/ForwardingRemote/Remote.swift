public import Forwarding
@_exported public import ForwardingWire

/// An object of a protocol that is in another process.
///
/// ```
/// let room = try Remote<ChatRoomProxy>(transport, at: "chat", deadline: .seconds(2))
/// try await room.face.post("hello", by: me)  // asked: one answer, or an error
/// room.face.typing(me)                       // not awaited and without a result: told
/// ```
///
/// The face is an ordinary object of the protocol, and may be one of the targets of a `Multicast`. A
/// ``RemoteProxy`` is behind it. Requirements that are not awaited and have a result cannot be answered from elsewhere:
/// they get what the protocol says for when nobody answers.
///
/// ```swift
/// func room<Face: ForwardingFace>(
///   _ transport: any Transport, as face: Face.Type
/// ) throws -> Remote<Face> where Face.__Values: Sendable {
///   try Remote(transport, at: "chat")
/// }
/// ```
public final class Remote<Face: ForwardingFace> where Face.__Values: Sendable {
  /// The proxy that sends.
  public let proxy: RemoteProxy
  /// The object of the protocol. It keeps the proxy, so it may outlive this.
  public let face: Face

  /// Makes one for a name. All messages of the protocol must be such that they may cross.
  ///
  /// - Parameter interface: the name that the protocol has on both sides; that of the face's class unless given.
  public convenience init(
    _ transport: any Transport, at name: String, interface: String? = nil,
    limits: WireLimits = WireLimits(), deadline: Duration = .seconds(5)
  ) throws(InterfaceError) {
    var messages = Interface(interface ?? Self.interfaceName, limits: limits)
    try messages.allow(Face.self)
    self.init(RemoteProxy(messages, transport, at: name, deadline: deadline))
  }

  /// Makes one in front of a proxy.
  public init(_ proxy: RemoteProxy) {
    self.proxy = proxy
    face = Face(forwardingTo: proxy)
  }

  static var interfaceName: String { "\(Face.self)" }

  /// Asks who is there, and returns how many answered within a time.
  @discardableResult
  public func ping(
    expecting count: Int = 1, within limit: Duration? = nil
  ) async throws(RemoteError) -> Int {
    try await proxy.ping(expecting: count, within: limit)
  }
}

extension Remote: Sendable where Face: Sendable {}
