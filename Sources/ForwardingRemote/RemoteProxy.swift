// SPDX-License-Identifier: Apache-2.0
public import Forwarding
public import ForwardingWire
import Invocations
public import TypeEncodings

/// Stands for an object of another process: messages sent to it go to the hosts of a name.
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
/// A message that is awaited waits for its answer up to the ``deadline``. A message that is not
/// awaited must have no result, and its sender does not learn the outcome. Apart from that, a proxy
/// is an ordinary target: it may be one of many in a `MulticastProxy`, whose report covers this
/// process only.
open class RemoteProxy: ForwardingProxy, SharedProxy, @unchecked Sendable {
  // SAFETY: all mutable state is behind the locks of the link.

  /// The messages that may be sent.
  public let interface: Interface
  let link: OutboundCalls

  /// Makes a proxy for a name. No host needs to have the name yet.
  ///
  /// - Parameters:
  ///   - interface: The messages that may be sent.
  ///   - transport: The transport that carries them.
  ///   - name: The name of the hosts.
  ///   - deadline: How long a call waits for its answer.
  public init(
    _ interface: Interface, _ transport: any Transport, at name: String,
    deadline: Duration = .seconds(5)
  ) {
    self.interface = interface
    link = OutboundCalls(
      transport, RemoteSubject(parts: "forwarding", name, interface.name), deadline: deadline)
    super.init()
  }

  /// How long a call waits for its answer.
  public final var deadline: Duration {
    get { link.state.read { $0.deadline } }
    set { link.state.withLock { $0.deadline = newValue } }
  }

  /// The maximum number of calls in flight. Further calls throw ``RemoteError/congested(limit:)``.
  public final var inFlightLimit: Int {
    get { link.state.read { $0.limit } }
    set { link.state.withLock { $0.limit = newValue } }
  }

  /// Counts of the calls sent.
  public final var statistics: RemoteStatistics { link.state.read { $0.counts } }

  // MARK: Steps of forwarding

  open override func responds(to selector: Selector) -> Bool {
    interface.message(selector) != nil || super.responds(to: selector)
  }

  open override func methodSignature(for selector: Selector) -> MethodSignature? {
    interface.message(selector)?.signature ?? super.methodSignature(for: selector)
  }

  open override func forward(_ invocation: Invocation) throws {
    // Without an answer, a requirement with an `@Otherwise(throw:)` fails closed.
    if invocation.call.returnsValue || UnansweredMessages.hasOtherwise(invocation.call),
      let selector = invocation.selector
    {
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
      // The proxy treats this like a local target without a method for the message.
      if case .refused(.leftOut, _) = error { UnansweredMessages.note(invocation.call) }
      throw named(error, invocation)
    }
    do throws(WireError) { try interface.decodeResult(result, into: invocation) } catch {
      throw RemoteError.wire(error)
    }
  }

  /// Encodes a call, with room for the header in front of it.
  private func encoded(_ invocation: Invocation) throws(RemoteError) -> [UInt8] {
    do throws(WireError) {
      return try interface.encodeSent(invocation, behind: RemoteRequest.head)
    } catch {
      throw .wire(error)
    }
  }

  /// Adds the names of a call to the refusal of a host, which got a fingerprint in their place.
  func named(_ error: RemoteError, _ call: Invocation) -> RemoteError {
    guard case .refused(let refusal, let text) = error,
      let message = call.selector.flatMap({ interface.message($0) })
    else { return error }
    let reason: WireError.Reason
    switch refusal {
    case .unknownMessage: reason = .unknownSelector(message.selector.name)
    case .signatureMismatch:
      reason = .encoding(
        selector: message.selector.name, expected: text, given: message.encoding)
    default: return error
    }
    return .refused(refusal, "\(reason)")
  }
}
