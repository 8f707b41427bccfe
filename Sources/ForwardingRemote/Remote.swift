// SPDX-License-Identifier: Apache-2.0
public import Forwarding
@_exported public import ForwardingWire

/// A typed reference to an object in another process.
///
/// ```
/// let room = try Remote<ChatRoomProxy>(transport, at: "chat", deadline: .seconds(2))
/// try await room.face.post("hello", by: me)  // asked: one answer, or an error
/// room.face.typing(me)                       // not awaited and without a result: told
/// ```
///
/// The face is an ordinary object of the protocol, and may be a target of a `Multicast`. It
/// forwards to a ``RemoteProxy``. A requirement that returns a result without being `async` cannot
/// be answered by another process: it does what the protocol defines for unanswered messages.
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
  /// The object of the protocol. It retains the proxy, so it may outlive this reference.
  public let face: Face

  /// Makes a reference to the object that hosts expose under a name.
  ///
  /// - Parameters:
  ///   - transport: The transport that carries the calls.
  ///   - name: The name of the hosts.
  ///   - interface: The name of the protocol on both sides; nil for the name of the face's class.
  ///   - limits: The limits of messages and their values.
  ///   - deadline: How long a call waits for its answer.
  /// - Throws: `InterfaceError` if a message of the protocol cannot be sent to another process.
  public convenience init(
    _ transport: any Transport, at name: String, interface: String? = nil,
    limits: WireLimits = WireLimits(), deadline: Duration = .seconds(5)
  ) throws(InterfaceError) {
    var messages = Interface(interface ?? Self.interfaceName, limits: limits)
    try messages.allow(Face.self)
    self.init(RemoteProxy(messages, transport, at: name, deadline: deadline))
  }

  /// Makes a reference that sends through an existing proxy.
  public init(_ proxy: RemoteProxy) {
    self.proxy = proxy
    face = Face(forwardingTo: proxy)
  }

  /// The name of the face's class, behind the types around it: two of them may have a `Delegate`.
  static var interfaceName: String {
    let name = "\(Face.self)"
    let whole = String(reflecting: Face.self).prefix { $0 != "<" && $0 != "(" }
    let around = whole.split(separator: ".").dropFirst().dropLast()
    return around.map { $0 + "." }.joined() + name
  }
}

extension Remote: Sendable where Face: Sendable {}
