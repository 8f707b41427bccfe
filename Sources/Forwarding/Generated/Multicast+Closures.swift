// SPDX-License-Identifier: Apache-2.0
import Invocations

extension Multicast where Subject: GeneratedProxy {
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
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) -> ForwardingToken {
    let requirement = Subject.__Messages()[keyPath: requirement]
    let target = ClosureTarget()
    do throws(InvocationError) {
      try target.register(requirement.selector) { (arguments: repeat each Argument) in
        try body(repeat each arguments)
      }
    } catch {
      fatalError("'\(requirement.selector)' cannot be answered by a closure: \(error)")
    }
    return forwarder.add(target, strongly: true, priority: priority, group: group, once: once)
  }
}
