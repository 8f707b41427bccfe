// SPDX-License-Identifier: Apache-2.0
public import Forwarding
public import ForwardingWire
import Invocations

/// Exposes objects of this process to others, each with the messages that its interface allows.
///
/// ```swift
/// let transport = InProcessTransport()
/// let deposit = try AsyncMessage<Int32, Int32>("deposit:")
/// var bank = Interface("bank")
/// try bank.allow(deposit)
///
/// let host = RemoteHost(transport, as: "bank-1")
/// try host.expose(account, bank)
///
/// let remote = RemoteProxy(bank, transport, at: "bank-1")
/// try await deposit(50, on: remote)  // 150
/// ```
///
/// Requests are not trusted: a request can only select an exposed message, its types are compared,
/// and its arguments are decoded with the types of this process. Every call whose caller waits is
/// answered, if only with a refusal.
public final class RemoteHost: Sendable {
  /// The name that others send to. Several hosts may have one name.
  public let name: String
  /// A random number by which others tell hosts of one name apart.
  public var number: UInt64 { gate.number }
  private let transport: any Transport
  private let gate: InboundCalls
  let authorization = Authorization(nil)
  /// The exposed objects; nil once the host is closed.
  private let exposures = Guarded<[Exposure]?>([])

  /// The ``authorize`` closure, which the exposed objects share with the host.
  typealias Authorization = Guarded<(@Sendable (Caller) -> Bool)?>

  /// A caller and its message, known before the arguments are decoded.
  public struct Caller: Sendable {
    /// The calling process, as far as the transport knows it.
    public let peer: TransportPeer
    /// The name of the exposed interface.
    public let interface: String
    /// The selector of the message.
    public let selector: Selector
  }

  /// Makes a host that exposes nothing yet.
  public init(_ transport: any Transport, as name: String) {
    self.transport = transport
    self.name = name
    gate = InboundCalls(transport)
  }

  deinit { close() }

  /// The maximum number of calls in progress, 1000 unless set. Further calls are refused as
  /// ``RemoteRefusal/busy``.
  ///
  /// A call that ends before its lane has come to it, because its time is over or it was cancelled,
  /// counts until then: it is still in the lane, with its arguments.
  public var limit: Int {
    get { gate.limits.calls }
    set { gate.limits.calls = newValue }
  }

  /// The maximum number of bytes of these calls together, as they were received; 16 MB unless set.
  /// Further calls are refused as ``RemoteRefusal/busy``; a call that alone is longer is taken where no
  /// other one is held. Decoded arguments take more memory: JSON
  /// up to some twenty times as much.
  public var byteLimit: Int {
    get { gate.limits.bytes }
    set { gate.limits.bytes = newValue }
  }

  /// The longest time that a call may take, ten minutes unless set, whatever its caller says. A
  /// caller that does not wait sets no time of its own. Then the call's task is cancelled.
  public var longestCall: Duration {
    get { gate.limits.time }
    set { gate.limits.time = newValue }
  }

  /// Decides whether a caller may send a message. If nil, every call is allowed.
  ///
  /// A refusal does not reveal which messages exist: messages that the interface lacks are refused
  /// as unauthorized too, and types are compared only after this closure allows the call.
  public var authorize: (@Sendable (Caller) -> Bool)? {
    get { authorization.read { $0 } }
    set { authorization.withLock { $0 = newValue } }
  }

  /// Counts of the calls received.
  public var statistics: RemoteStatistics { gate.statistics }

  // MARK: Exposing

  /// Exposes an object, which the host retains, with the messages of an interface.
  ///
  /// Over NATS, this blocks its thread until the server has confirmed two subscriptions: for at most
  /// `NATSOptions.subscribeTimeout` each. Call it where a thread may wait.
  ///
  /// - Parameters:
  ///   - target: The object.
  ///   - interface: The messages that others may send to it.
  ///   - group: Each call goes to one of the hosts that expose the interface with the same group.
  ///     If nil, each call goes to all hosts of the name.
  ///   - lane: Where the object receives its messages. If nil, that is a thread of the transport
  ///     for methods that do not suspend, so slow ones should have a queue or be `async`. An `async`
  ///     method starts on a thread of Swift's pool, beside others.
  /// - Throws: `TransportError.closed` if the transport or this host is closed; other errors of
  ///   subscribing.
  public func expose(
    _ target: AnyObject, _ interface: Interface, group: String? = nil,
    on lane: DeliveryLane? = nil
  ) throws(TransportError) {
    let exposure = Exposure(target, interface, lane, self)
    let subject = RemoteSubject(parts: "forwarding", name, interface.name)
    let subscription = try transport.subscribe(to: subject, group: group) { [gate] message in
      gate.receive(message, for: exposure)
    }
    exposure.keep(subscription)
    do throws(TransportError) {
      // Without the group, so that each member receives each cancel.
      exposure.keep(
        try transport.subscribe(to: subject.cancels, group: nil) { [gate] in gate.cancel($0) })
    } catch {
      exposure.close()
      throw error
    }
    // If the host is closed, close() did not see this exposure.
    let isOpen = exposures.withLockInPlace { exposures in
      exposures?.append(exposure)
      return exposures != nil
    }
    guard isOpen else {
      exposure.close()
      throw .closed
    }
  }

  /// Exposes an object with the messages of its protocol.
  ///
  /// - Throws: `InterfaceError` if a message of the protocol cannot be sent to another process;
  ///   `TransportError` if the transport cannot subscribe.
  public func expose<Proxy: GeneratedProxy>(
    _ target: Proxy.__Target, as proxy: Proxy.Type, interface: String? = nil, group: String? = nil,
    limits: WireLimits = WireLimits(), on lane: DeliveryLane? = nil
  ) throws where Proxy.__Values: Sendable {
    var messages = Interface(interface ?? Remote<Proxy>.interfaceName, limits: limits)
    try messages.allow(proxy)
    try expose(Proxy.__prepare(target), messages, group: group, on: lane)
  }

  // MARK: Ending

  /// Refuses new calls, waits for the calls in progress, and closes.
  ///
  /// - Parameter limit: How long to wait. The host closes afterwards in any case.
  /// - Throws: ``TransportError/timedOut`` if calls were still in progress, or the task was
  ///   cancelled; errors of flushing the transport.
  public func drain(within limit: Duration = .seconds(10)) async throws(TransportError) {
    try await gate.drain(within: limit) { close() }
  }

  /// Stops receiving messages, for good. Calls in transit are refused as
  /// ``RemoteRefusal/draining``. The transport stays open.
  public func close() {
    let ended = exposures.withLock { exposures in
      defer { exposures = nil }
      return exposures ?? []
    }
    for exposure in ended { exposure.close() }
  }
}
