import Forwarding
import ForwardingWire
import Invocations
import Synchronization

/// An object that others may send to, and the messages that it takes from them.
final class Exposure: Sendable {
  let interface: Interface
  let subscription = Guarded<(any TransportSubscription)?>(nil)
  private let target: ExposedTarget
  private let seen = DuplicateWindow()
  private let counts: RemoteCounts
  private let host: UInt64
  private let transport: any Transport
  private let settings: Guarded<RemoteHost.Settings>

  init(_ target: AnyObject, _ interface: Interface, _ lane: DeliveryLane?, _ host: RemoteHost) {
    self.interface = interface
    self.target = ExposedTarget(target, lane)
    self.host = host.number
    transport = host.transport
    counts = host.counts
    settings = host.settings
  }

  /// Performs a call, and gives the answer to `done`, which is called once: nil where nobody waits.
  func perform(
    _ request: RemoteRequest, _ message: TransportMessage,
    _ done: @escaping @Sendable (RemoteAnswer?) -> Void
  ) {
    let isAsked = request.kind == .asked
    if isAsked {
      counts.asked.wrappingAdd(1, ordering: .relaxed)
    } else {
      counts.told.wrappingAdd(1, ordering: .relaxed)
    }
    switch seen.look(request) {
    case .new: break
    case .answered(let answer):
      counts.duplicates.wrappingAdd(1, ordering: .relaxed)
      return done(isAsked ? answer : nil)
    case .begun:
      counts.duplicates.wrappingAdd(1, ordering: .relaxed)
      return done(isAsked ? .refused(.duplicate, "", host: host) : nil)
    }
    let call: Invocation
    do {
      call = try decoded(request, message)
    } catch {
      let (refusal, text) = Self.refusal(error)
      counts.refusedHere.wrappingAdd(1, ordering: .relaxed)
      return done(isAsked ? .refused(refusal, text, host: host) : nil)
    }
    target.send(PassedCall(call: call)) { [self] call, error in
      let answer = answer(to: call, error)
      if isAsked { seen.keep(answer, for: request) }
      done(isAsked ? answer : nil)
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
    if let error {
      counts.failed.wrappingAdd(1, ordering: .relaxed)
      return .failed(error, host: host)
    }
    do throws(WireError) {
      let result = try interface.encodeResult(of: call)
      let (limit, size) = (transport.maximumPayload, RemoteAnswer.head + result.count)
      guard size <= limit else {
        counts.failed.wrappingAdd(1, ordering: .relaxed)
        let error = TransportError.tooLarge(limit: limit, given: size)
        return .refused(.unsendableResult, "\(error)", host: host)
      }
      counts.answered.wrappingAdd(1, ordering: .relaxed)
      return RemoteAnswer(.answered, host: host, body: result[...])
    } catch {
      counts.failed.wrappingAdd(1, ordering: .relaxed)
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
  ) {
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
