// SPDX-License-Identifier: Apache-2.0
// Targets with lanes. Values that cross to another thread are Sendable, which the compiler checks.
// Where it cannot, the argument label `unchecked` shows that the caller vouches for them.

extension Multicast where Subject: GeneratedProxy, Subject.__Values: Sendable {
  /// Adds a target with a lane, in the way of
  /// ``MulticastProxy/add(_:strongly:on:priority:group:once:)``. The target and all values of the
  /// protocol are `Sendable`.
  @discardableResult
  public final func add(
    _ target: Subject.__SendableTarget, strongly: Bool = false, on lane: DeliveryLane,
    priority: Int? = nil, group: String? = nil, once: Bool = false
  ) -> ForwardingToken {
    add(
      unchecked: Subject.__target(target), strongly: strongly, on: lane, priority: priority,
      group: group, once: once)
  }
}

extension Multicast where Subject: GeneratedProxy {
  /// Adds a target with a lane, without a check that its class and the values of its messages may
  /// be used on the thread of the lane. The caller vouches for that, for instance for an object
  /// that only its queue uses.
  ///
  /// The lane cannot return the result of a requirement that is not awaited: the target runs, and
  /// its result is ignored.
  @discardableResult
  public final func add(
    unchecked target: Subject.__Target, strongly: Bool = false, on lane: DeliveryLane,
    priority: Int? = nil, group: String? = nil, once: Bool = false
  ) -> ForwardingToken {
    forwarder.add(
      RegisteredTarget(target, of: Subject.self).request(
        to: forwarder, strongly: strongly, on: lane, priority: priority, group: group, once: once))
  }
}
