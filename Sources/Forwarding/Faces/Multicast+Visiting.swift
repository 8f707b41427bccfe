// SPDX-License-Identifier: Apache-2.0
public import Invocations

extension Multicast {
  /// Calls `body` with each target that is called on the sender's thread, in order.
  ///
  /// ```
  /// let interested = Multicast<ObserverProxy>()
  /// observers.forEach { if $0.observes(table) { interested.add($0) } }
  /// ```
  ///
  /// Targets with a lane, and blocked ones, are left out. A visit is no message: it does not end a
  /// once-only registration. As in a delivery, targets that `body` removes are not visited, and
  /// targets that it adds are not visited yet.
  ///
  /// - Throws: the error of `body`, which ends the visit.
  @inlinable
  public final func forEach<Failure: Error>(
    _ body: (Face.__Target) throws(Failure) -> Void
  ) throws(Failure) {
    if try face.__forwarder.visit({ self.found($0) }, body) { return }
    for target in callable { try body(target) }
  }

  /// The target of a member that the face does not call, if it may be called on this thread.
  @usableFromInline
  final func found(_ member: ListedTarget) -> Face.__Target? {
    guard !member.isRemoved, !member.isBlocked, case .caller = proxy.wishes(of: member).lane.kind
    else { return nil }
    return member.object.flatMap { Face.__found($0) }
  }

  @usableFromInline final var callable: [Face.__Target] { proxy.snapshot.compactMap { found($0) } }
}

extension FaceForwarder {
  @inlinable
  func visit<Target, Failure: Error>(
    _ other: (ListedTarget) -> Target?, _ body: (Target) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    try FaceDelivery.visit(targets, other: other, body)
  }
}
