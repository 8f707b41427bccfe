import Forwarding
import ForwardingWire
import Invocations
import Synchronization

/// An object that others may send to, and the messages that it takes from them.
final class Exposure: Sendable {
  let interface: Interface
  private let subscriptions = Guarded<[any TransportSubscription]>([])
  private let isClosed = Atomic(false)
  let seen = DuplicateWindow()
  private let target: ExposedTarget
  private let host: UInt64
  private let settings: Guarded<RemoteHost.Settings>

  init(_ target: AnyObject, _ interface: Interface, _ lane: DeliveryLane?, _ host: RemoteHost) {
    self.interface = interface
    self.target = ExposedTarget(target, lane)
    self.host = host.number
    settings = host.settings
  }

  /// Keeps what brings messages here.
  func keep(_ subscription: any TransportSubscription) {
    subscriptions.withLock { $0.append(subscription) }
  }

  /// Takes no more calls. Those that are on their way are answered.
  func close() {
    isClosed.store(true, ordering: .releasing)
    // They have this.
    let ended = subscriptions.withLock { subscriptions in
      defer { subscriptions = [] }
      return subscriptions
    }
    for subscription in ended { subscription.end() }
  }

  /// The call of a request, if it is one of the messages and its sender may send it.
  func read(
    _ request: RemoteRequest, _ message: TransportMessage
  ) throws(RefusedCall) -> PassedCall {
    if isClosed.load(ordering: .acquiring) { throw RefusedCall(.draining) }
    if let authorize = settings.read({ $0.authorize }) {
      let selector: Selector?
      do throws(WireError) { selector = try interface.selector(namedBy: request.call) } catch {
        throw Self.refused(error)
      }
      // What the list has not, nobody may send: whoever is refused cannot tell the one from the other.
      guard let selector else { throw RefusedCall(.unauthorized) }
      let caller = RemoteHost.Caller(
        peer: message.sender, interface: interface.name, selector: selector)
      guard authorize(caller) else { throw RefusedCall(.unauthorized) }
    }
    do throws(WireError) { return PassedCall(call: try interface.decode(request.call)) } catch {
      throw Self.refused(error)
    }
  }

  /// Performs a call whose method does not suspend, here and now; nil where that is not known.
  func performAtOnce(_ passed: PassedCall) -> RemoteAnswer? {
    guard let method = target.methodAtOnce(for: passed.call) else { return nil }
    do {
      try target.perform(method, passed.call)
      return answer(to: passed.call, nil)
    } catch {
      return answer(to: passed.call, error)
    }
  }

  /// Performs a call, and gives the answer to `done`.
  func perform(
    _ passed: PassedCall, _ done: @escaping @Sendable (RemoteAnswer) -> Void
  ) -> Task<Void, Never> {
    target.send(passed) { [self] call, error in done(answer(to: call, error)) }
  }

  private func answer(to call: Invocation, _ error: (any Error)?) -> RemoteAnswer {
    if let error {
      return target.leavesOut(call, error)
        ? .refused(.leftOut, "", host: host) : .failed(error, host: host)
    }
    do throws(WireError) {
      let result = try interface.encodeResult(of: call, behind: RemoteAnswer.head)
      return RemoteAnswer(.answered, host: host, room: result)
    } catch {
      return .refused(.unsendableResult, error.outwards, host: host)
    }
  }

  private static func refused(_ error: WireError) -> RefusedCall {
    let refusal: RemoteRefusal =
      switch error.reason {
      case .unknownSelector, .interface: .unknownMessage
      case .encoding: .signatureMismatch
      case .version: .version
      default: .malformed
      }
    return RefusedCall(refusal, error.outwards)
  }
}

/// An object, and where it gets its messages.
private final class ExposedTarget: @unchecked Sendable {
  // SAFETY: the object is sent to in its lane, or on threads of the transport, as whoever exposed it has said.
  private let target: AnyObject
  /// With the object alone, in its lane; nil for one that is called where the message arrives.
  private let proxy: MulticastProxy?

  init(_ target: AnyObject, _ lane: DeliveryLane?) {
    self.target = target
    proxy = lane.map { _ in MulticastProxy() }
    if let lane { proxy?.add(target, strongly: true, on: lane) }
  }

  /// The method of the object's class that performs a call, if that does not suspend and the object has no lane.
  func methodAtOnce(for call: Invocation) -> Implementation? {
    guard proxy == nil, let method = try? call.directMethod(of: target), !method.isAwaited else {
      return nil
    }
    return method
  }

  func perform(_ method: Implementation, _ call: Invocation) throws {
    try call.perform(method, on: target)
  }

  /// Whether a call ended with an error because the object has no method for it.
  func leavesOut(_ call: Invocation, _ error: any Error) -> Bool {
    error is NotImplemented
      || call.selector.map { !Introspection.responds(target, to: $0) } ?? false
  }

  /// Sends a call, and gives it back with what the target threw.
  func send(
    _ passed: PassedCall, _ done: @escaping @Sendable (Invocation, (any Error)?) -> Void
  ) -> Task<Void, Never> {
    Task.immediate { [self] in
      do {
        try await passed.call.invokeAwaiting(on: proxy ?? target)
        done(passed.call, nil)
      } catch {
        done(passed.call, error)
      }
    }
  }
}

/// A call that goes over to another task.
struct PassedCall: @unchecked Sendable {
  // SAFETY: it was just read from bytes, and nobody else knows it.
  let call: Invocation
}
