public import Forwarding
public import ForwardingWire
import Invocations

/// An object of another process, as a target of messages here: what is sent to it goes to whoever answers to a name.
///
/// ```swift
/// let transport = InProcessTransport()
/// var bank = Interface("bank")
/// try bank.allow(AsyncMessage<Int32, Int32>("deposit:"))
/// let remote = RemoteProxy(bank, transport, at: "bank-1")
/// remote.responds(to: "deposit:")  // true
/// remote.responds(to: "rob:")      // false
/// ```
///
/// A message that is awaited is asked, and its answer awaited, up to the ``deadline``. One that is sent without being
/// awaited is told, and nobody hears what becomes of it; it must have no result. An ordinary target otherwise: it may be
/// one of many in a `MulticastProxy`, whose report says what became of the message here.
open class RemoteProxy: ForwardingProxy, @unchecked Sendable {
  // SAFETY: nothing changes but what is behind the link's locks.

  /// The messages that may cross.
  public let interface: Interface
  let link: RemoteLink

  /// Makes a proxy for a name. Nobody needs to answer to it yet.
  public init(
    _ interface: Interface, _ transport: any Transport, at name: String,
    deadline: Duration = .seconds(5)
  ) {
    self.interface = interface
    link = RemoteLink(
      transport, RemoteSubject(parts: "forwarding", name, interface.name), deadline: deadline)
    super.init()
  }

  /// How long an answer is waited for.
  public final var deadline: Duration {
    get { link.settings.deadline }
    set { link.set(\.deadline, newValue) }
  }

  /// How many calls may wait for an answer at a time; more are ``RemoteError/congested(limit:)``.
  public final var inFlightLimit: Int {
    get { link.settings.inFlight }
    set { link.set(\.inFlight, newValue) }
  }

  /// Called when the connection breaks. Calls on their way fail; later ones wait for it, up to their deadline.
  public final var onInterruption: (@Sendable () -> Void)? {
    get { link.settings.interrupted }
    set { link.set(\.interrupted, newValue) }
  }

  /// Called when the connection is closed for good.
  public final var onInvalidation: (@Sendable () -> Void)? {
    get { link.settings.invalidated }
    set { link.set(\.invalidated, newValue) }
  }

  /// What became of the calls.
  public final var statistics: RemoteStatistics { link.counts.statistics }

  /// Asks who is there, and returns how many answered within a time.
  @discardableResult
  public final func ping(
    expecting count: Int = 1, within limit: Duration? = nil
  ) async throws(RemoteError) -> Int {
    // Each host is heard once. One that is going away says so, and is not there any more.
    let heard = Guarded((there: 0, all: 0))
    do throws(RemoteError) {
      try await link.askAll(.ping, [], within: limit) { answer in
        heard.withLockInPlace {
          if answer.kind == .pong { $0.there += 1 }
          $0.all += 1
          return $0.all >= count
        }
      }
    } catch {
      // Nobody is there: that is an answer, too.
      if case .unreachable = error { return 0 }
      throw error
    }
    return heard.read { $0.there }
  }

  // MARK: Steps of forwarding

  open override func responds(to selector: Selector) -> Bool {
    interface.message(selector) != nil || super.responds(to: selector)
  }

  open override func methodSignature(for selector: Selector) -> MethodSignature? {
    interface.message(selector)?.signature ?? super.methodSignature(for: selector)
  }

  open override func forward(_ invocation: Invocation) throws {
    if invocation.returnsValue, let selector = invocation.selector {
      throw RemoteError.mustBeAwaited(selector)
    }
    try link.tell(behindRoom: encoded(invocation))
  }

  open override nonisolated(nonsending) func forwardAwaiting(
    _ invocation: Invocation
  ) async throws {
    let result: ArraySlice<UInt8>
    do throws(RemoteError) {
      result = try await link.ask(behindRoom: encoded(invocation))
    } catch {
      // A face gives what it gives for a target here.
      if case .refused(.leftOut, _) = error { UnansweredMessages.note(invocation.call) }
      throw error
    }
    do throws(WireError) { try interface.decodeResult(result, into: invocation) } catch {
      throw RemoteError.wire(error)
    }
  }

  /// A call behind room for what goes around it.
  private func encoded(_ invocation: Invocation) throws(RemoteError) -> [UInt8] {
    do throws(WireError) {
      return try interface.encode(invocation, behind: RemoteRequest.head)
    } catch {
      throw .wire(error)
    }
  }
}
