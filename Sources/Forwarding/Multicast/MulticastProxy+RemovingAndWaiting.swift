import Dispatch

extension MulticastProxy {
  /// Removes a registration and waits until no thread can still begin, or be inside of, one of its
  /// messages; false if it was gone.
  ///
  /// Waits for the end of all deliveries that have the target in their list. Inside of a delivery
  /// that could be a wait for itself, and in a queue that a blocking delivery of the proxy waits
  /// for, a wait in a circle: there it throws ``ForwardingError/wouldDeadlock``, and removes
  /// nothing. A once-only registration that was given its message is gone already.
  ///
  /// - Important: Not for a child process that was made by `fork` while another thread of its parent delivered to the
  ///   target: nobody is left to end that delivery. ``remove(_:)-(Token)`` waits for nothing.
  @discardableResult
  public func removeAndWait(_ token: Token) throws(ForwardingError) -> Bool {
    try removeAndWait { $0.remove(token, from: $1) } > 0
  }

  /// Removes all registrations of a target and waits in the same way; returns how many there were.
  @discardableResult
  public func removeAndWait(_ target: AnyObject) throws(ForwardingError) -> Int {
    try removeAndWait { $0.remove(of: ObjectIdentifier(target), from: $1) }
  }

  private func removeAndWait(
    _ remove: (inout Registrations, TargetList) -> [Registration]
  ) throws(ForwardingError) -> Int {
    guard !ForwardingDepth.isInside, !AwaitedStep.isInside, !BlockingChain.isInside else {
      throw .wouldDeadlock
    }
    guard let count = wait(in: QueueMark.current[...], remove) else { throw .wouldDeadlock }
    return count
  }

  /// Removes and waits unless one of these queues is waited for; returns nil then.
  private func wait(
    in queues: ArraySlice<QueueMark>, _ remove: (inout Registrations, TargetList) -> [Registration]
  ) -> Int? {
    if let queue = queues.first {
      return queue.inside(of: self) { wait(in: queues.dropFirst(), remove) } ?? nil
    }
    // The registrations themselves are let go before the wait, which is for the last reference.
    let ends = change { remove(&$0, $1).map { (registration: $0, end: $0.end) } }.map(\.end)
    // The last delivery that has them in its list lets go of them when it ends.
    for end in ends { end.wait() }
    return ends.count
  }
}
