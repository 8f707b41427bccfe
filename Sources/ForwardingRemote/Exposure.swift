// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingWire
import Invocations

/// An exposed object, and the messages that others may send to it.
final class Exposure: @unchecked Sendable {
  // SAFETY: the object is called in its lane or, without a lane, on threads of the transport and of
  // tasks, as `expose` documents.
  private let target: AnyObject
  /// Sends to the object in its lane; nil for an object without a lane.
  private let inLane: MulticastProxy?
  private let interface: Interface
  private let host: UInt64
  private let authorization: RemoteHost.Authorization
  /// The subscriptions that deliver messages; nil once this is closed.
  private let subscriptions = Guarded<[any TransportSubscription]?>([])

  init(_ target: AnyObject, _ interface: Interface, _ lane: DeliveryLane?, _ host: RemoteHost) {
    self.target = target
    self.interface = interface
    self.host = host.number
    authorization = host.authorization
    // It is not known before whether the targets of an object that forwards suspend, so it gets its
    // messages in order on a queue.
    let isForwarding = target is any MessageForwarding
    let own = isForwarding ? DeliveryLane.queue(DispatchQueue(label: interface.name)) : .caller
    let lane = lane ?? own
    inLane = lane == .caller ? nil : MulticastProxy()
    inLane?.add(target, strongly: true, on: lane)
  }

  /// Retains a subscription that delivers messages to this exposure.
  func keep(_ subscription: any TransportSubscription) {
    subscriptions.withLock { $0?.append(subscription) }
  }

  /// Refuses new calls. Calls in progress are still answered.
  func close() {
    // The subscriptions' closures retain this exposure, so they are released here.
    let ended = subscriptions.withLock { subscriptions in
      defer { subscriptions = nil }
      return subscriptions ?? []
    }
    for subscription in ended { subscription.end() }
  }

  /// A call that may be performed.
  struct Received: @unchecked Sendable {
    // SAFETY: the call was just decoded from bytes, so there is no other reference to it.
    let call: Invocation
    let message: InterfaceMessage
    /// Whether the caller waits for the answer. Otherwise the result is not encoded.
    let isAsked: Bool
    /// The time in the lane; nil if the object has no lane.
    let stay: LaneStay?
  }

  /// Finds the message of a request, and decodes its arguments.
  ///
  /// - Throws: ``RefusedCall`` if the exposure is closed, the caller is not authorized, the
  ///   interface does not have the message with these types, or the bytes are not its arguments.
  func read(
    _ request: RemoteRequest, _ message: TransportMessage
  ) throws(RefusedCall) -> Received {
    if subscriptions.read({ $0 == nil }) { throw RefusedCall(.draining) }
    let fingerprint = try Self.decoded { () throws(WireError) in
      try interface.fingerprint(of: request.call)
    }
    let known = interface.message(fingerprint)
    if let authorize = authorization.read({ $0 }) {
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
    let call = Invocation(known.plan)
    try Self.decoded { () throws(WireError) in
      try interface.decodeSent(request.call, as: known, into: call)
    }
    let stay = inLane.map { _ in LaneStay() }
    stay?.follow(call)
    return Received(call: call, message: known, isAsked: request.kind == .asked, stay: stay)
  }

  private static func decoded<Value>(
    _ body: () throws(WireError) -> Value
  ) throws(RefusedCall) -> Value {
    do throws(WireError) { return try body() } catch {
      throw RefusedCall(.malformed, error.outwards)
    }
  }

  /// Performs a call on the current thread.
  ///
  /// - Returns: The answer; nil if the object has a lane, or if no method is known that performs
  ///   the call without suspending.
  func performAtOnce(_ received: Received) -> RemoteAnswer? {
    guard inLane == nil, let method = received.call.call.methodWithoutSuspension(of: target) else {
      return nil
    }
    do { try received.call.call.perform(method, on: target) } catch {
      return answer(to: received, error)
    }
    return answer(to: received, nil)
  }

  /// Performs a call in a task, and passes its answer to `done`. A method never starts on the
  /// current thread, which may be the one that reads a connection.
  func perform(
    _ received: Received, _ done: @escaping @Sendable (RemoteAnswer) -> Void
  ) -> Task<Void, Never> {
    // In a lane, the task only hands the message over, which keeps the order of the messages.
    if let inLane {
      return Task.immediate { [self] in done(await answer(to: received, from: inLane)) }
    }
    return Task { done(await answer(to: received, from: target)) }
  }

  private nonisolated(nonsending) func answer(
    to received: Received, from target: AnyObject
  ) async -> RemoteAnswer {
    do {
      try await received.call.invokeAwaiting(on: target)
      return answer(to: received, nil)
    } catch {
      return answer(to: received, error)
    }
  }

  private func answer(to received: Received, _ error: (any Error)?) -> RemoteAnswer {
    if let error {
      let isLeftOut =
        error is NotImplemented
        || !Introspection.responds(target, to: received.message.selector)
      return isLeftOut ? .refused(.leftOut, "", host: host) : .failed(error, host: host)
    }
    if !received.isAsked { return RemoteAnswer(.answered, host: host) }
    do throws(WireError) {
      let result = try interface.encodeResult(
        of: received.call, as: received.message, behind: RemoteAnswer.head)
      return RemoteAnswer(.answered, host: host, room: result)
    } catch {
      return .refused(.unsendableResult, error.outwards, host: host)
    }
  }
}
