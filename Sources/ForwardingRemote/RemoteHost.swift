public import Forwarding
public import ForwardingWire
import Invocations

/// Objects of this process that others may send messages to: each with the messages that it allows.
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
/// What comes is believed in nothing: it selects one of the messages that are exposed, its types are compared, and its
/// arguments are read with the types of this process. Every call that somebody waits for is answered, also by a
/// refusal.
public final class RemoteHost: Sendable {
  /// The name that others send to. Several hosts may have one name.
  public let name: String
  /// A number that was drawn for this host, by which others tell hosts of one name apart.
  public var number: UInt64 { gate.number }
  private let transport: any Transport
  private let gate: RemoteGate
  let settings = Guarded(Settings())
  private let exposures = Guarded(Exposures())
  private let announcement = Guarded<(any TransportSubscription)?>(nil)

  private struct Exposures {
    var all: [Exposure] = []
    /// How often this was closed.
    var closings = 0
  }

  struct Settings: Sendable {
    var authorize: (@Sendable (Caller) -> Bool)?
  }

  /// Who sends what, before anything of it is read.
  public struct Caller: Sendable {
    /// The process, as far as the transport knows.
    public let peer: TransportPeer
    /// The interface that was exposed.
    public let interface: String
    /// The message.
    public let selector: Selector
  }

  /// Makes a host that nobody can send to yet.
  public init(_ transport: any Transport, as name: String) {
    self.transport = transport
    self.name = name
    gate = RemoteGate(transport)
  }

  deinit { close() }

  /// How many calls are performed at a time; more are refused as ``RemoteRefusal/busy``.
  public var limit: Int {
    get { gate.limit }
    set { gate.limit = newValue }
  }

  /// Says who may send what. Everybody may everything, unless it is set. Who may not hears nothing of which messages there are: a
  /// message that the list has not is refused as one that may not be sent, and types are compared afterwards.
  public var authorize: (@Sendable (Caller) -> Bool)? {
    get { settings.read { $0.authorize } }
    set { settings.withLock { $0.authorize = newValue } }
  }

  /// What became of the calls that came.
  public var statistics: RemoteStatistics { gate.counts.statistics }

  // MARK: Exposing

  /// Lets others send the messages of an interface to an object, which this keeps.
  ///
  /// - Parameters:
  ///   - group: of all hosts that expose the interface with a group, each call goes to one.
  ///   - lane: where the object gets its messages. Unless said otherwise, that is a thread of the transport: a
  ///     method that takes long should have a queue, or be `async`.
  public func expose(
    _ target: AnyObject, _ interface: Interface, group: String? = nil,
    on lane: DeliveryLane? = nil
  ) throws(TransportError) {
    let exposure = Exposure(target, interface, lane, self)
    let closings = exposures.read { $0.closings }
    let subject = RemoteSubject(parts: "forwarding", name, interface.name)
    let subscription = try transport.subscribe(to: subject, group: group) { [gate] message in
      gate.receive(
        message, exposure.seen,
        read: { (request) throws(RefusedCall) in try exposure.read(request, message) },
        atOnce: { exposure.performAtOnce($0) }, perform: { exposure.perform($0, $1) })
    }
    exposure.keep(subscription)
    do throws(TransportError) {
      // Alone, also of a group: each member hears of each call that is cancelled.
      exposure.keep(
        try transport.subscribe(to: subject.cancels, group: nil) { [gate] in gate.cancel($0) })
    } catch {
      exposure.close()
      throw error
    }
    // Who closes meanwhile does not see this one.
    let isOpen = exposures.withLockInPlace { exposures in
      let isOpen = exposures.closings == closings
      if isOpen { exposures.all.append(exposure) }
      return isOpen
    }
    guard isOpen else {
      exposure.close()
      throw .closed
    }
  }

  /// Lets others send the messages of a protocol to an object of it.
  public func expose<Face: ForwardingFace>(
    _ target: Face.__Target, as face: Face.Type, interface: String? = nil, group: String? = nil,
    limits: WireLimits = WireLimits(), on lane: DeliveryLane? = nil
  ) throws where Face.__Values: Sendable {
    var messages = Interface(interface ?? Remote<Face>.interfaceName, limits: limits)
    try messages.allow(face)
    try expose(Face.__prepare(target), messages, group: group, on: lane)
  }

  /// Tells whoever asks all hosts, by ``RemotePresence``, what is exposed here. Nobody hears of a host that does not.
  public func announce() throws(TransportError) {
    let closings = exposures.read { $0.closings }
    let new = try transport.subscribe(to: RemotePresence.subject, group: nil) {
      [weak self] message in self?.tell(message)
    }
    announcement.withLock { old in
      defer { old = new }
      return old
    }?.end()
    // Who closes meanwhile may have been too early to see it.
    guard exposures.read({ $0.closings }) == closings else {
      announcement.withLock { $0.take() }?.end()
      throw .closed
    }
  }

  private func tell(_ message: TransportMessage) {
    // Who asked just before this closed is told by nobody.
    guard announcement.read({ $0 != nil }) else { return }
    let interfaces = exposures.read { $0.all.map(\.interface.name) }
    let limit = transport.maximumPayload - RemoteAnswer.head
    guard let request = try? RemoteRequest(message.payload), request.kind == .ping,
      let bytes = try? RemotePresence.bytes(of: name, interfaces, limit: limit)
    else { return gate.counts.strange() }
    message.answer?(
      RemoteAnswer(.pong, host: number, body: bytes[...]).bytes(to: message.payload))
  }

  // MARK: Ending

  /// Takes no new calls, waits for those that are being performed, and closes. When the time is over it closes all the
  /// same, and throws ``TransportError/timedOut``.
  public func drain(within limit: Duration = .seconds(10)) async throws(TransportError) {
    try await gate.drain(within: limit) { close() }
  }

  /// Takes no more messages: what is on its way is refused as ``RemoteRefusal/draining``. The transport stays open.
  public func close() {
    let ended = exposures.withLock { exposures in
      defer {
        exposures.all = []
        exposures.closings += 1
      }
      return exposures.all
    }
    announcement.withLock { $0.take() }?.end()
    for exposure in ended { exposure.close() }
  }
}
