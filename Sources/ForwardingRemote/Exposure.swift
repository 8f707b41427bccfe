// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingWire
import Invocations
import Synchronization

/// An exposed object, and the messages that others may send to it.
final class Exposure: Sendable {
  let interface: Interface
  private let subscriptions = Guarded<[any TransportSubscription]>([])
  private let isClosed = Atomic(false)
  private let target: ExposedTarget
  private let host: UInt64
  private let authorization: RemoteHost.Authorization

  init(_ target: AnyObject, _ interface: Interface, _ lane: DeliveryLane?, _ host: RemoteHost) {
    self.interface = interface
    self.target = ExposedTarget(target, lane)
    self.host = host.number
    authorization = host.authorization
  }

  /// Retains a subscription that delivers messages to this exposure.
  func keep(_ subscription: any TransportSubscription) {
    subscriptions.withLock { $0.append(subscription) }
  }

  /// Refuses new calls. Calls in progress are still answered.
  func close() {
    isClosed.store(true, ordering: .releasing)
    // The subscriptions' closures retain this exposure, so they are released here.
    let ended = subscriptions.withLock { subscriptions in
      defer { subscriptions = [] }
      return subscriptions
    }
    for subscription in ended { subscription.end() }
  }

  /// A call whose message may be sent. Its arguments are not decoded yet.
  struct Received {
    let message: InterfaceMessage
    let bytes: ArraySlice<UInt8>
    /// Whether the caller waits for the answer. Otherwise the result is not encoded.
    let isAsked: Bool
    /// The time in the lane; nil if the object has no lane.
    let stay: LaneStay?
  }

  /// Finds the message of a request.
  ///
  /// - Throws: ``RefusedCall`` if the exposure is closed, the caller is not authorized, or the
  ///   interface does not have the message with these types.
  func read(
    _ request: RemoteRequest, _ message: TransportMessage
  ) throws(RefusedCall) -> Received {
    if isClosed.load(ordering: .acquiring) { throw RefusedCall(.draining) }
    let fingerprint: Fingerprint
    do throws(WireError) { fingerprint = try interface.fingerprint(of: request.call) } catch {
      throw RefusedCall(.malformed, error.outwards)
    }
    let known = interface.message(fingerprint)
    if let authorize = authorization.value {
      // Unknown messages are refused as unauthorized too, so a refusal does not reveal which
      // messages exist.
      guard let known else { throw RefusedCall(.unauthorized) }
      let caller = RemoteHost.Caller(
        peer: message.sender, interface: interface.name, selector: known.selector)
      guard authorize(caller) else { throw RefusedCall(.unauthorized) }
    }
    guard let known else { throw RefusedCall(.unknownMessage) }
    guard known.fingerprint == fingerprint else {
      throw RefusedCall(.signatureMismatch, known.encoding)
    }
    return Received(
      message: known, bytes: request.call, isAsked: request.kind == .asked,
      stay: target.hasLane ? LaneStay() : nil)
  }

  /// Performs a call on the current thread, in an invocation that the thread reuses.
  ///
  /// - Returns: The answer; nil if the object has a lane, or if no method is known that performs
  ///   the call without suspending.
  func performAtOnce(_ received: Received) -> RemoteAnswer? {
    guard !target.hasLane else { return nil }
    return SpareInvocations.withOne(received.message.plan) { call in
      guard (try? call.setSelector(received.message.selector)) != nil,
        let method = target.methodAtOnce(for: call)
      else { return nil }
      if let refusal = decode(received, into: call) { return refusal }
      do {
        try target.perform(method, call)
        return answer(to: received, call, nil)
      } catch {
        return answer(to: received, call, error)
      }
    }
  }

  /// Performs a call, and passes its answer to `done`.
  func perform(
    _ received: Received, _ done: @escaping @Sendable (RemoteAnswer) -> Void
  ) -> Task<Void, Never> {
    let call = Invocation(received.message.plan)
    if let refusal = decode(received, into: call) {
      done(refusal)
      return Task {}
    }
    received.stay?.follow(call)
    return target.send(PassedCall(call: call)) { [self] call, error in
      done(answer(to: received, call, error))
    }
  }

  /// Decodes the arguments of a call. Returns the refusal of bytes that are not its arguments.
  private func decode(_ received: Received, into call: Invocation) -> RemoteAnswer? {
    do throws(WireError) {
      try interface.decodeSent(received.bytes, as: received.message, into: call)
      return nil
    } catch {
      return .refused(.malformed, error.outwards, host: host)
    }
  }

  private func answer(
    to received: Received, _ call: Invocation, _ error: (any Error)?
  ) -> RemoteAnswer {
    if let error {
      return target.leavesOut(call, error)
        ? .refused(.leftOut, "", host: host) : .failed(error, host: host)
    }
    if !received.isAsked { return .unsent(host: host) }
    do throws(WireError) {
      let result = try interface.encodeResult(
        of: call, as: received.message, behind: RemoteAnswer.head)
      return RemoteAnswer(.answered, host: host, room: result)
    } catch {
      return .refused(.unsendableResult, error.outwards, host: host)
    }
  }
}

/// An exposed object, and its lane if it has one.
private final class ExposedTarget: @unchecked Sendable {
  // SAFETY: the object is called in its lane or, without a lane, on threads of the transport, as
  // `expose` documents.
  private let target: AnyObject
  /// Sends to the object in its lane; nil for an object without a lane, which is called on the
  /// thread that receives the message.
  private let proxy: MulticastProxy?

  init(_ target: AnyObject, _ lane: DeliveryLane?) {
    self.target = target
    proxy = lane.map { _ in MulticastProxy() }
    if let lane { proxy?.add(target, strongly: true, on: lane) }
  }

  var hasLane: Bool { proxy != nil }

  /// The method of the object's class that performs a call; nil if it suspends.
  func methodAtOnce(for call: Invocation) -> Implementation? {
    call.call.methodWithoutSuspension(of: target)
  }

  func perform(_ method: Implementation, _ call: Invocation) throws {
    try call.call.perform(method, on: target)
  }

  /// Whether a call failed because the object has no method for it.
  func leavesOut(_ call: Invocation, _ error: any Error) -> Bool {
    UnansweredMessages.isLeftOut(error)
      || call.selector.map { !Introspection.responds(target, to: $0) } ?? false
  }

  /// Sends a call, and passes it to `done` together with the error that the target threw.
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

/// A call that is handed over to another task.
struct PassedCall: @unchecked Sendable {
  // SAFETY: the call was just decoded from bytes, so there is no other reference to it.
  let call: Invocation
}
