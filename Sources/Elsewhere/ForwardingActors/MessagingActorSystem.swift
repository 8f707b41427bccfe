// SPDX-License-Identifier: Apache-2.0
public import Distributed
public import ForwardingRemote
public import ForwardingWire
import Invocations

/// Distributed actors over the transports of this package. Actors of one process are called from
/// another.
///
/// ```swift
/// distributed actor Greeter {
///   typealias ActorSystem = MessagingActorSystem
///   distributed func greet(_ name: String) -> String { "Hello, \(name)!" }
/// }
///
/// let transport = InProcessTransport()
/// let system = try MessagingActorSystem(transport, as: "greeters")
/// let greeter = try system.named("greeter") { Greeter(actorSystem: $0) }
///
/// let other = try MessagingActorSystem(transport, as: "visitors")
/// let there = try Greeter.resolve(id: .init("greeter", at: "greeters"), using: other)
/// try await there.greet("Ann")  // Hello, Ann!
/// withExtendedLifetime(greeter) { system.close() }
/// ```
///
/// A system is a *node*. Its name must be unique among the nodes that can be reached. A node does
/// not retain its actors, and finds them as long as they live.
///
/// Received calls are not trusted. A call can only select an actor of this node, and a distributed
/// method of the actor's type; its arguments are decoded with the types of that method. Types are
/// not sent, so calls of generic methods, and of generic actors, are refused by the calling node.
/// Actors with `private` types cannot be called from other nodes, as the names of these types are
/// not known at run time.
public final class MessagingActorSystem: DistributedActorSystem {
  public typealias SerializationRequirement = any Codable

  /// The name of this node.
  public let node: String
  /// Limits that are checked before memory is allocated.
  public let limits: WireLimits
  let actors = ActorTable()
  let link: OutboundCalls
  let gate: InboundCalls
  let settings = Guarded(Settings())
  private let subscriptions = Guarded<[any TransportSubscription]?>([])

  struct Settings: Sendable {
    var authorize: (@Sendable (Caller) -> Bool)?
    /// The mangled names of stubs whose methods may be called.
    var stubs: Set<String> = []
  }

  /// A caller and its method, known before the actor and the method are looked up.
  public struct Caller: Sendable {
    /// The calling process, as far as the transport knows it.
    public let peer: TransportPeer
    /// The name of this node.
    public let node: String
    /// The name of an actor of this node, which may not exist.
    public let actor: String
    /// The called method. Its description is `Module.Greeter.greet(_:)`, or empty if this process
    /// does not have the method.
    public var target: RemoteCallTarget { RemoteCallTarget(method) }
    /// Whether the actor is not called itself, but is part of an argument. The method may then call
    /// it on behalf of the caller.
    public let isArgument: Bool
    let method: String
  }

  /// Makes a node, which others can reach from now on.
  ///
  /// - Parameters:
  ///   - transport: The transport that carries the calls.
  ///   - node: The name of the node.
  ///   - limits: The limits of messages and their values.
  ///   - deadline: How long a call waits for its answer.
  /// - Throws: `TransportError` if the transport cannot subscribe to the calls.
  public init(
    _ transport: any Transport, as node: String, limits: WireLimits = WireLimits(),
    deadline: Duration = .seconds(5)
  ) throws(TransportError) {
    self.node = node
    self.limits = limits
    let subject = Self.subject(of: node)
    link = OutboundCalls(transport, subject, deadline: deadline)
    gate = InboundCalls(transport)
    let calls = try transport.subscribe(to: subject, group: nil) {
      [weak self, gate] message in
      guard let self else { return gate.refuse(message, .targetGone) }
      gate.receive(
        message,
        read: { (request) throws(RefusedCall) in try self.read(Array(request.call), message) },
        perform: { self.perform($0, $1) })
    }
    subscriptions.withLock { $0 = [calls] }
    let cancels = try transport.subscribe(to: subject.cancels, group: nil) { [gate] in
      gate.cancel($0)
    }
    subscriptions.withLock { $0?.append(cancels) }
  }

  deinit { close() }

  static func subject(of node: String) -> RemoteSubject {
    RemoteSubject(parts: "forwarding-actors", node)
  }

  // MARK: Settings

  /// How long a call waits for its answer. The remaining time is sent with the call, and the other
  /// node cancels the method's task when it is over.
  public var deadline: Duration {
    get { link.settings.deadline }
    set { link.set(\.deadline, newValue) }
  }

  /// The maximum number of calls in flight. Further calls throw `RemoteError.congested`.
  public var inFlightLimit: Int {
    get { link.settings.inFlight }
    set { link.set(\.inFlight, newValue) }
  }

  /// The maximum number of calls of other nodes in progress, 1000 unless set. Further calls are
  /// refused as `busy`.
  public var limit: Int {
    get { gate.limit }
    set { gate.limit = newValue }
  }

  /// Decides whether a caller may call a method. If nil, every call is allowed. It is called before
  /// anything is looked up, and again for each actor of this node in an argument. So a refusal does
  /// not reveal which actors and methods exist.
  public var authorize: (@Sendable (Caller) -> Bool)? {
    get { settings.read { $0.authorize } }
    set { settings.withLock { $0.authorize = newValue } }
  }

  /// Called when the connection breaks. Calls in flight fail; later calls wait for a new
  /// connection, up to their deadline.
  public var onInterruption: (@Sendable () -> Void)? {
    get { link.settings.interrupted }
    set { link.set(\.interrupted, newValue) }
  }

  /// Called when the connection is closed for good.
  public var onInvalidation: (@Sendable () -> Void)? {
    get { link.settings.invalidated }
    set { link.set(\.invalidated, newValue) }
  }

  /// Counts of the calls to other nodes.
  public var outgoing: RemoteStatistics { link.counts.statistics }

  /// Counts of the calls of other nodes.
  public var incoming: RemoteStatistics { gate.counts.statistics }

  /// Allows calls of the methods of a protocol, by the stub that `@Resolvable` makes for it:
  /// `allow($Greeting.self)`. Such calls reach only actors that conform to the protocol, and only
  /// its requirements.
  public func allow<Stub: DistributedActor & _DistributedActorStub>(_ stub: Stub.Type) {
    guard let name = _mangledTypeName(stub) else { return }
    settings.withLock { _ = $0.stubs.insert(name) }
  }

  // MARK: Ending

  /// Refuses new calls, waits for the calls in progress, and closes.
  ///
  /// - Parameter limit: How long to wait. The node closes afterwards in any case.
  /// - Throws: `TransportError.timedOut` if calls were still in progress, or the task was
  ///   cancelled; errors of flushing the transport.
  public func drain(within limit: Duration = .seconds(10)) async throws(TransportError) {
    try await gate.drain(within: limit) { close() }
  }

  /// Stops receiving calls. Calls in transit are refused as `draining`. The transport stays open,
  /// and other nodes can still be called.
  public func close() {
    let old = subscriptions.withLock { subscriptions in
      defer { subscriptions = nil }
      return subscriptions
    }
    for subscription in old ?? [] { subscription.end() }
  }

  /// Whether the node is closed, so that received calls are refused.
  var isClosed: Bool { subscriptions.read { $0 == nil } }
}
