import Forwarding
import ForwardingWire
import Invocations

/// An object that others may send to, and the messages that it takes from them.
final class Exposure: Sendable {
  let interface: Interface
  let subscription = Guarded<(any TransportSubscription)?>(nil)
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

  /// Performs a call, and gives the answer to `done`. Returns the task that does so, if there is one.
  func perform(
    _ request: RemoteRequest, _ message: TransportMessage,
    _ done: @escaping @Sendable (RemoteAnswer) -> Void
  ) -> Task<Void, Never>? {
    let call: Invocation
    do {
      call = try decoded(request, message)
    } catch {
      let (refusal, text) = Self.refusal(error)
      done(.refused(refusal, text, host: host))
      return nil
    }
    return target.send(PassedCall(call: call)) { [self] call, error in
      done(answer(to: call, error))
    }
  }

  private func decoded(
    _ request: RemoteRequest, _ message: TransportMessage
  ) throws -> Invocation {
    let bytes = Array(request.call)
    if let authorize = settings.read({ $0.authorize }) {
      let selector = try interface.selector(of: bytes)
      let caller = RemoteHost.Caller(
        peer: message.sender, interface: interface.name, selector: selector)
      guard authorize(caller) else { throw RemoteRefusal.unauthorized }
    }
    return try interface.decode(bytes)
  }

  private func answer(to call: Invocation, _ error: (any Error)?) -> RemoteAnswer {
    if let error { return .failed(error, host: host) }
    do throws(WireError) {
      let result = try interface.encodeResult(of: call)
      return RemoteAnswer(.answered, host: host, body: result[...])
    } catch {
      return .refused(.unsendableResult, "\(error)", host: host)
    }
  }

  private static func refusal(_ error: any Error) -> (RemoteRefusal, String) {
    if let refusal = error as? RemoteRefusal { return (refusal, "") }
    guard let error = error as? WireError else { return (.other, "") }
    switch error.reason {
    case .unknownSelector, .interface: return (.unknownMessage, "\(error)")
    case .encoding: return (.signatureMismatch, "\(error)")
    case .version: return (.version, "\(error)")
    default: return (.malformed, "\(error)")
    }
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
private struct PassedCall: @unchecked Sendable {
  // SAFETY: it was just read from bytes, and nobody else knows it.
  let call: Invocation
}
