// SPDX-License-Identifier: Apache-2.0
public import Forwarding
@_exported public import ForwardingWire

/// A typed reference to an object in another process.
///
/// ```
/// let room = try Remote<ChatRoomProxy>(transport, at: "chat", deadline: .seconds(2))
/// try await room.proxy.post("hello", by: me)  // asked: one answer, or an error
/// room.proxy.typing(me)                       // not awaited and without a result: told
/// ```
///
/// The proxy is an ordinary object of the protocol, and may be a target of a `Multicast`. It
/// forwards to a ``RemoteProxy``. A requirement that returns a result without being `async` cannot
/// be answered by another process: it does what the protocol defines for unanswered messages.
///
/// ```swift
/// func room<Proxy: GeneratedProxy>(
///   _ transport: any Transport, as proxy: Proxy.Type
/// ) throws -> Remote<Proxy> where Proxy.__Values: Sendable {
///   try Remote(transport, at: "chat")
/// }
/// ```
public final class Remote<Proxy: GeneratedProxy> where Proxy.__Values: Sendable {
  /// The proxy that sends.
  public let untyped: RemoteProxy
  /// The object of the protocol. It retains the proxy, so it may outlive this reference.
  public let proxy: Proxy

  /// Makes a reference to the object that hosts expose under a name.
  ///
  /// - Parameters:
  ///   - transport: The transport that carries the calls.
  ///   - name: The name of the hosts.
  ///   - interface: The name of the protocol on both sides; nil for the name of the proxy's class.
  ///   - limits: The limits of messages and their values.
  ///   - deadline: How long a call waits for its answer.
  /// - Throws: `InterfaceError` if a message of the protocol cannot be sent to another process.
  public convenience init(
    _ transport: any Transport, at name: String, interface: String? = nil,
    limits: WireLimits = WireLimits(), deadline: Duration = .seconds(5)
  ) throws(InterfaceError) {
    var messages = Interface(interface ?? Self.interfaceName, limits: limits)
    try messages.allow(Proxy.self)
    self.init(RemoteProxy(messages, transport, at: name, deadline: deadline))
  }

  /// Makes a reference that sends through an existing proxy.
  public init(_ untyped: RemoteProxy) {
    self.untyped = untyped
    proxy = Proxy(forwardingTo: untyped)
  }

  /// The name of the proxy's class, behind the types around it: two of them may have a `Delegate`.
  static var interfaceName: String {
    let name = "\(Proxy.self)"
    let whole = String(reflecting: Proxy.self).prefix { $0 != "<" && $0 != "(" }
    let around = whole.split(separator: ".").dropFirst().dropLast()
    return around.map { $0 + "." }.joined() + name
  }
}

extension Remote: Sendable where Proxy: Sendable {}
