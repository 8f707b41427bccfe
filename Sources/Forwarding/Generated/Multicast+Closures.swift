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
  ///   - body: what the requirement runs. It is `@Sendable` if the multicast is `Sendable`.
  /// - Precondition: The requirement is not `async`.
  @discardableResult
  public final func on<Result, each Argument>(
    _ requirement: KeyPath<Subject.__Messages, Requirement<Result, repeat each Argument>>,
    priority: Int? = nil, group: String? = nil, once: Bool = false,
    _ body: @escaping (repeat each Argument) throws -> Result
  ) -> ForwardingToken {
    register(requirement, priority, group, once, UncheckedClosure(body: body))
  }

  private func register<Result, each Argument>(
    _ requirement: KeyPath<Subject.__Messages, Requirement<Result, repeat each Argument>>,
    _ priority: Int?, _ group: String?, _ once: Bool,
    _ held: UncheckedClosure<Result, repeat each Argument>
  ) -> ForwardingToken {
    let requirement = Subject.__Messages()[keyPath: requirement]
    let target = ClosureTarget()
    do throws(InvocationError) {
      try target.register(requirement.selector) { (arguments: repeat each Argument) in
        try held.body(repeat each arguments)
      }
    } catch {
      fatalError("'\(requirement.selector)' cannot be a closure: \(error)")
    }
    return forwarder.add(target, strongly: true, priority: priority, group: group, once: once)
  }
}

extension Multicast where Subject: GeneratedProxy & Sendable {
  /// Adds a closure for one requirement, in place of a target, where any thread may send.
  @discardableResult
  public final func on<Result, each Argument>(
    _ requirement: KeyPath<Subject.__Messages, Requirement<Result, repeat each Argument>>,
    priority: Int? = nil, group: String? = nil, once: Bool = false,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) -> ForwardingToken {
    register(requirement, priority, group, once, UncheckedClosure(body: body))
  }
}

// SAFETY: the closure is `@Sendable`, or the multicast is not `Sendable`, and neither leave the place where
// they were made.
private struct UncheckedClosure<Result, each Argument>: @unchecked Sendable {
  let body: (repeat each Argument) throws -> Result
}
