// SPDX-License-Identifier: Apache-2.0
/// A proxy for one object, which it holds weakly unless `strongly` is true.
///
/// ```swift
/// let proxy = SingleTargetProxy(calculator)
/// try Message<Int32, Int32, Int32>("add:to:")(2, 3, on: proxy)  // 5
/// proxy.setTarget(nil)
/// proxy.whenTargetIsGone = .zero
/// try Message<Int32, Int32, Int32>("add:to:")(2, 3, on: proxy)  // 0
/// ```
///
/// The message is forwarded unchanged, as by Objective-C's `forwardingTargetForSelector:`. The
/// proxy is thread-safe.
open class SingleTargetProxy: ForwardingProxy, SharedProxy, @unchecked Sendable {
  // SAFETY: `state` is the only mutable state, and has a lock.

  private struct State {
    var target: ListedTarget?
    var whenTargetIsGone = UnansweredRule.throw
  }

  private let state = Guarded(State())
  /// The target for faces, as a list of one member.
  package let targetList = TargetList()

  /// Creates a proxy for an object.
  public init(_ target: AnyObject?, strongly: Bool = false) {
    super.init()
    targetList.isOfOne = true
    targetList.tellsUnanswered = true
    if let target { setTarget(target, strongly: strongly) }
  }

  /// The target, while it is alive.
  public var target: AnyObject? { state.read { $0.target }?.object }

  /// Replaces the target. Later messages go to the new one.
  public func setTarget(_ target: AnyObject?, strongly: Bool = false) {
    setTarget(target, strongly: strongly, nil)
  }

  /// Replaces the target with a target of a face, which has witnesses if the face may call it.
  final func setTarget(_ object: AnyObject?, strongly: Bool, _ witnesses: FaceWitnesses?) {
    let target = object.map {
      ListedTarget($0, id: 0, isStrong: strongly, .called, notes: nil)
    }
    target?.witnesses = witnesses
    // The old target is released outside the lock: it may use the proxy in its `deinit`.
    let (old, list) = state.withLockInPlace { state in
      let old = state.target
      if let old { targetList.remove(old) }
      if let target { targetList.insert(target) { _ in false } }
      state.target = target
      return (old, targetList.withdraw())
    }
    targetList.retire(list)
    withExtendedLifetime(old) {}
  }

  /// What a sender gets after the target has died. The initial value is ``UnansweredRule/throw``.
  public var whenTargetIsGone: UnansweredRule {
    get { state.read { $0.whenTargetIsGone } }
    set { state.withLock { $0.whenTargetIsGone = newValue } }
  }

  open override func forwardingTarget(for selector: Selector) -> AnyObject? { target }

  open override func methodSignature(for selector: Selector) -> MethodSignature? {
    Introspection.signature(of: target, for: selector)
  }

  /// Only runs when the target is gone, because ``forwardingTarget(for:)`` is tried before.
  open override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    .fits
  }

  open override func forward(_ invocation: Invocation) throws {
    try answerForTarget(invocation.call)
  }

  /// Answers a message when the target is gone.
  private func answerForTarget(_ call: Call) throws {
    if let error = errorWithoutTarget(call.selector) {
      UnansweredMessages.note(call)
      throw error
    }
    call.answerWithZero()
  }

  private func errorWithoutTarget(_ selector: Selector?) -> ForwardingError? {
    switch whenTargetIsGone {
    case .throw, .throwForResults: .targetGone(selector)
    case .zero: nil
    }
  }

  open override func responds(to selector: Selector) -> Bool {
    Introspection.responds(target, to: selector)
  }

  open override func conforms(to description: ProtocolDescription) -> Bool {
    Introspection.conforms(target, to: description)
  }
}

extension SingleTargetProxy: TargetListOwner {
  package func publishTargets() { state.withLockInPlace { _ in targetList.publish(newest: 0) } }

  package func deliver(
    _ call: Call, to member: ListedTarget, _ tally: inout TargetList.Tally
  ) {
    guard !member.isRemoved, let target = member.object else { return }
    var outcome = Swift.Result<Void, any Error>.success(())
    call.withInvocation { invocation in
      outcome = Swift.Result { try invocation.send(to: target) }
    }
    switch outcome {
    case .success: tally.answered += 1
    case .failure(let error):
      if !UnansweredMessages.take(call, error) { tally.fail(error, at: member) }
    }
  }

  package nonisolated(nonsending) func deliverAwaiting(
    _ invocation: Invocation, to member: ListedTarget, _ tally: inout TargetList.Tally
  ) async {
    guard !member.isRemoved, let target = member.object else { return }
    do {
      try await invocation.sendAwaiting(to: target)
      tally.answered += 1
    } catch {
      if !UnansweredMessages.take(invocation.call, error) { tally.fail(error, at: member) }
    }
  }

  package func overrule(_ member: ListedTarget, _ selector: Selector) {}

  package func verdict(
    _ selector: Selector, _ tally: TargetList.Tally, returnsValue: Bool, hasOtherwise: Bool
  ) -> Verdict {
    if let error = tally.error { return .failed(error) }
    if tally.answered > 0 { return .answered }
    if target != nil {
      return returnsValue || hasOtherwise
        ? .unanswered(ForwardingError.nobodyAnswered(selector)) : .answered
    }
    return errorWithoutTarget(selector).map { .unanswered($0) } ?? .answered
  }
}
