// SPDX-License-Identifier: Apache-2.0
extension Multicast where Subject: ForwardingFace {
  /// Adds a closure for one requirement, in place of a target.
  ///
  /// ```
  /// let token = delegates.on(\.chatDidReceive) { chat, message in print(message.text) }
  /// token.remove()
  /// ```
  ///
  /// The closure is kept until its token removes it, and runs on the sender's thread. A requirement
  /// that it has a result for gets the closure's answer.
  ///
  /// - Parameters:
  ///   - requirement: the name of the requirement among ``messages``.
  ///   - priority: targets with higher priorities are called first; 0 by default.
  ///   - group: a name for removing several registrations at once.
  ///   - once: whether the registration ends with its first message.
  ///   - body: what the requirement runs.
  /// - Precondition: The requirement is not `async`.
  @discardableResult
  public final func on<Result, each Argument>(
    _ requirement: KeyPath<Subject.__Messages, Requirement<Result, repeat each Argument>>,
    priority: Int? = nil, group: String? = nil, once: Bool = false,
    _ body: @escaping (repeat each Argument) throws -> Result
  ) -> ForwardingToken {
    let requirement = Subject.__Messages()[keyPath: requirement]
    let target = ClosureTarget()
    do {
      try target.register(requirement.selector, unchecked: body)
    } catch {
      fatalError("'\(requirement.selector)' cannot be a closure: \(error)")
    }
    return proxy.add(target, strongly: true, priority: priority, group: group, once: once)
  }
}

extension ClosureTarget {
  /// Registers a closure that runs where a target would, whatever it captures.
  fileprivate func register<Result, each Argument>(
    _ selector: Selector, unchecked body: @escaping (repeat each Argument) throws -> Result
  ) throws(InvocationError) {
    // SAFETY: a target of the multicast runs on the same threads, and its class may not be `Sendable`.
    let body = unsafe unsafeBitCast(
      body, to: (@Sendable (repeat each Argument) throws -> Result).self)
    try register(selector, body)
  }
}
