public import Distributed
public import ForwardingRemote
public import ForwardingWire
import Invocations

/// Distributed actors over the transports of this package: an actor of one process is called from another.
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
/// A system is a *node*: one name, that no other system which can be reached has. Actors belong to whoever makes them; a
/// node finds them as long as they live.
///
/// What comes is believed in nothing. It selects an actor that this node has, and a distributed method that the type of
/// this actor has; arguments are read with the types of that method. No type crosses, so generic methods, and actors that
/// are generic, are refused where they are called. Actors whose types are `private` cannot be called from other
/// nodes, as their names are not told.
public final class MessagingActorSystem: DistributedActorSystem {
  public typealias SerializationRequirement = any Codable

  /// The name of this node.
  public let node: String
  /// What is checked before anything is allocated.
  public let limits: WireLimits
  let actors = ActorTable()
  let link: RemoteLink
  let gate: RemoteGate
  let settings = Guarded(Settings())
  private let seen = DuplicateWindow()
  private let subscriptions = Guarded<[any TransportSubscription]?>([])

  struct Settings: Sendable {
    var authorize: (@Sendable (Caller) -> Bool)?
    /// The names of stubs whose methods may be called.
    var stubs: Set<String> = []
  }

  /// Who calls what, before anything is looked for that it names.
  public struct Caller: Sendable {
    /// The process, as far as the transport knows.
    public let peer: TransportPeer
    /// The name of this node.
    public let node: String
    /// The name of an actor of this node, which may have none of it.
    public let actor: String
    /// The method that is called. It is described as `Module.Greeter.greet(_:)`; by nothing, if this process has no
    /// such method at all.
    public var target: RemoteCallTarget { RemoteCallTarget(method) }
    /// Whether the actor is given to the method as a part of an argument, and another one is called: the method may call
    /// it in the place of whoever sends.
    public let isArgument: Bool
    let method: String
  }

  /// Makes a node, which others can reach at once.
  public init(
    _ transport: any Transport, as node: String, limits: WireLimits = WireLimits(),
    deadline: Duration = .seconds(5)
  ) throws(TransportError) {
    self.node = node
    self.limits = limits
    let subject = Self.subject(of: node)
    link = RemoteLink(transport, subject, deadline: deadline)
    gate = RemoteGate(transport)
    let calls = try transport.subscribe(to: subject, group: nil) {
      [weak self, gate, seen] message in
      guard let self else { return gate.refuse(message, .targetGone) }
      gate.receive(
        message, seen,
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

  /// How long an answer is waited for. It crosses as the time that is left; when that is over, the method's task is
  /// cancelled there.
  public var deadline: Duration {
    get { link.settings.deadline }
    set { link.set(\.deadline, newValue) }
  }

  /// How many calls may wait for an answer at a time; more are `RemoteError.congested`.
  public var inFlightLimit: Int {
    get { link.settings.inFlight }
    set { link.set(\.inFlight, newValue) }
  }

  /// How many calls of others are performed at a time; more are refused as `busy`.
  public var limit: Int {
    get { gate.limit }
    set { gate.limit = newValue }
  }

  /// Says who may call what. Everybody may everything, unless it is set. It is asked first, and again for each actor of
  /// this node that is a part of an argument: who is refused hears nothing of what there is.
  public var authorize: (@Sendable (Caller) -> Bool)? {
    get { settings.read { $0.authorize } }
    set { settings.withLock { $0.authorize = newValue } }
  }

  /// Called when the connection breaks. Calls on their way fail; later ones wait for it, up to their deadline.
  public var onInterruption: (@Sendable () -> Void)? {
    get { link.settings.interrupted }
    set { link.set(\.interrupted, newValue) }
  }

  /// Called when the connection is closed for good.
  public var onInvalidation: (@Sendable () -> Void)? {
    get { link.settings.invalidated }
    set { link.set(\.invalidated, newValue) }
  }

  /// What became of the calls to other nodes.
  public var outgoing: RemoteStatistics { link.counts.statistics }

  /// What became of the calls of other nodes.
  public var incoming: RemoteStatistics { gate.counts.statistics }

  /// Lets others call the methods of a protocol, by the stub that `@Resolvable` makes of it: `allow($Greeting.self)`.
  /// Only actors that conform to the protocol can be called so, and only with what the protocol asks for.
  public func allow<Stub: DistributedActor & _DistributedActorStub>(_ stub: Stub.Type) {
    guard let name = _mangledTypeName(stub) else { return }
    settings.withLock { _ = $0.stubs.insert(name) }
  }

  // MARK: Ending

  /// Takes no new calls, waits for those that are being performed, and closes. When the time is over it closes all the
  /// same, and throws `TransportError.timedOut`.
  public func drain(within limit: Duration = .seconds(10)) async throws(TransportError) {
    try await gate.drain(within: limit) { close() }
  }

  /// Takes no more calls: what is on its way is refused as `draining`. The transport stays open, and other nodes can be
  /// called.
  public func close() {
    let old = subscriptions.withLock { subscriptions in
      defer { subscriptions = nil }
      return subscriptions
    }
    for subscription in old ?? [] { subscription.end() }
  }

  /// Whether calls that come are on their way to nobody.
  var isClosed: Bool { subscriptions.read { $0 == nil } }
}
