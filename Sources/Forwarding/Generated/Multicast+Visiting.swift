// SPDX-License-Identifier: Apache-2.0
public import Invocations

// Closures that are called with the targets on the sender's thread. No message is made.

extension Multicast {
  /// Calls `body` with each target, in order, on this thread.
  ///
  /// The rules are those of a delivery: targets that `body` removes are left out, those that it adds are not
  /// called yet, and dead ones are removed. Suspended targets, and those with a queue or actor, are left out.
  /// A once-only registration ends before `body` gets its target.
  ///
  /// - Throws: the first error of `body`; no other target is called then.
  @_disfavoredOverload
  @inlinable
  public final func forEach<Failure: Error>(
    _ body: (Subject) throws(Failure) -> Void
  ) throws(Failure) {
    requireNoProxy()
    try visit({ subject($0, $1) }) { target throws(Failure) in
      try body(target)
      return true
    }
  }

  /// Returns the results of `transform` for all targets, in order, by the rules of `forEach`.
  @_disfavoredOverload
  @inlinable
  public final func map<Value, Failure: Error>(
    _ transform: (Subject) throws(Failure) -> Value
  ) throws(Failure) -> [Value] {
    var values: [Value] = []
    try forEach { (target: Subject) throws(Failure) in values.append(try transform(target)) }
    return values
  }

  /// Returns the first target for which `matches` is true; the remaining ones are not visited.
  @_disfavoredOverload
  @inlinable
  public final func first<Failure: Error>(
    where matches: (Subject) throws(Failure) -> Bool
  ) throws(Failure) -> Subject? {
    requireNoProxy()
    return try firstTarget({ subject($0, $1) }, where: matches)
  }

  /// Whether `matches` is true for all targets. The first for which it is false ends the visit.
  @_disfavoredOverload
  @inlinable
  public final func allSatisfy<Failure: Error>(
    _ matches: (Subject) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    try first { (target: Subject) throws(Failure) in try !matches(target) } == nil
  }
}

extension Multicast where Subject: GeneratedProxy {
  /// Calls `body` with each target that is called on the sender's thread, in order. A visit ends a
  /// once-only registration, as a message does.
  ///
  /// ```
  /// let interested = Multicast<ObserverProxy>()
  /// observers.forEach { if $0.observes(table) { interested.add($0) } }
  /// ```
  ///
  /// - Throws: the error of `body`, which ends the visit.
  @inlinable
  public final func forEach<Failure: Error>(
    _ body: (Subject.__Target) throws(Failure) -> Void
  ) throws(Failure) {
    try visit({ Subject.__found($1) }) { target throws(Failure) in
      try body(target)
      return true
    }
  }

  /// Returns the results of `transform` for all targets, in order, by the rules of `forEach`.
  @inlinable
  public final func map<Value, Failure: Error>(
    _ transform: (Subject.__Target) throws(Failure) -> Value
  ) throws(Failure) -> [Value] {
    var values: [Value] = []
    try forEach { (target: Subject.__Target) throws(Failure) in values.append(try transform(target))
    }
    return values
  }

  /// Returns the first target for which `matches` is true; the remaining ones are not visited.
  @inlinable
  public final func first<Failure: Error>(
    where matches: (Subject.__Target) throws(Failure) -> Bool
  ) throws(Failure) -> Subject.__Target? {
    try firstTarget({ Subject.__found($1) }, where: matches)
  }

  /// Whether `matches` is true for all targets. The first for which it is false ends the visit.
  @inlinable
  public final func allSatisfy<Failure: Error>(
    _ matches: (Subject.__Target) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    try first { (target: Subject.__Target) throws(Failure) in try !matches(target) } == nil
  }
}

extension Multicast {
  /// Calls `body` with the targets in order, while it returns true.
  ///
  /// - Parameter find: the target that the object of a member stands for.
  @inlinable
  final func visit<Target, Failure: Error>(
    _ find: (ListedTarget, AnyObject) -> Target?, _ body: (Target) throws(Failure) -> Bool
  ) throws(Failure) {
    // The closures may release this object.
    defer { withExtendedLifetime(self) {} }
    var metDead = false
    defer { if metDead { sweep() } }
    func other(_ member: ListedTarget) -> Target? { turn(of: member, &metDead, find) }
    // A proxy may have a box in place of a target of more words.
    let isDirect = front == nil || MemoryLayout<Target>.size <= MemoryLayout<(UInt, UInt)>.size
    if try ProxyDelivery.visit(list, isDirect: isDirect, other: other, body) { return }
    for member in members { if let target = other(member), try !body(target) { return } }
  }

  /// The first target for which `matches` is true.
  @inlinable
  final func firstTarget<Target, Failure: Error>(
    _ find: (ListedTarget, AnyObject) -> Target?,
    where matches: (Target) throws(Failure) -> Bool
  ) throws(Failure) -> Target? {
    var first: Target?
    try visit(find) { target throws(Failure) in
      if try matches(target) { first = target }
      return first == nil
    }
    return first
  }

  /// The target of a member that is not simply called, if it may be visited on this thread. Ends a
  /// once-only registration, so that the closure may add its target again.
  @usableFromInline
  final func turn<Target>(
    of member: ListedTarget, _ metDead: inout Bool,
    _ find: (ListedTarget, AnyObject) -> Target?
  ) -> Target? {
    guard !member.isRemoved, !member.isBlocked else { return nil }
    guard let object = member.object else {
      metDead = true
      return nil
    }
    let wishes = forwarder.wishes(of: member)
    guard case .caller = wishes.lane.kind, let target = find(member, object) else { return nil }
    return wishes.isOnce && forwarder.claimAndEnd(member) == nil ? nil : target
  }

  @usableFromInline final var members: [ListedTarget] { forwarder.snapshot }

  @usableFromInline final func sweep() { forwarder.purge() }
}
