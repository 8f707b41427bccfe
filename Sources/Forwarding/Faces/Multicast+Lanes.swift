// Targets with lanes. What crosses to another thread is Sendable, and the compiler sees to it; where it
// cannot know, a word in the call says that somebody else does.

extension Multicast where Face.__Values: Sendable {
  /// Adds a target with a lane, otherwise as ``MulticastProxy/add(_:strongly:on:priority:group:once:)`` does.
  /// The target and all values of the protocol are `Sendable`.
  @discardableResult
  public final func add(
    _ target: Face.__SendableTarget, strongly: Bool = false, on lane: DeliveryLane,
    priority: Int? = nil, group: String? = nil, once: Bool = false
  ) -> MulticastProxy.Token {
    add(
      unchecked: Face.__target(target), strongly: strongly, on: lane, priority: priority,
      group: group, once: once)
  }

  /// Adds such a target for as long as the returned object lives.
  public final func scoped(
    _ target: Face.__SendableTarget, strongly: Bool = false, on lane: DeliveryLane,
    priority: Int? = nil
  ) -> ScopedRegistration {
    scoped(unchecked: Face.__target(target), strongly: strongly, on: lane, priority: priority)
  }
}

extension Multicast {
  /// Adds a target with a lane, and checks nothing: that its class, and what its messages carry, may be used on
  /// the thread of the lane, the caller knows. So it is with an object that its queue alone uses.
  ///
  /// Where a result is asked for and not awaited, the target is told, and answers nothing.
  @discardableResult
  public final func add(
    unchecked target: Face.__Target, strongly: Bool = false, on lane: DeliveryLane,
    priority: Int? = nil, group: String? = nil, once: Bool = false
  ) -> MulticastProxy.Token {
    let object = Face.__receiver(of: target)
    return proxy.add(
      Registrations.Request(
        proxy: proxy, target: object, isStrong: strongly || Face.__isBox(object),
        lane: lane.leavingQuestions(),
        priority: priority, group: group, isOnce: once, isScope: false,
        witnesses: Face.__witnesses(of: object)))
  }

  /// Adds such a target for as long as the returned object lives.
  public final func scoped(
    unchecked target: Face.__Target, strongly: Bool = false, on lane: DeliveryLane,
    priority: Int? = nil
  ) -> ScopedRegistration {
    let object = Face.__receiver(of: target)
    return proxy.scoped(
      Registrations.Request(
        proxy: proxy, target: object, isStrong: strongly || Face.__isBox(object),
        lane: lane.leavingQuestions(),
        priority: priority, group: nil, isOnce: false, isScope: true,
        witnesses: Face.__witnesses(of: object)))
  }
}
