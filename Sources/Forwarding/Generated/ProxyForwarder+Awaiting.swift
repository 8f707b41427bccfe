// SPDX-License-Identifier: Apache-2.0
public import Invocations

// Async requirements. The values that a proxy holds stay in the isolation domain of its method.

/// The delivery of an `async` requirement to the targets of a proxy, one after the other.
@_documentation(visibility: internal)
@frozen
public struct _AwaitedProxyDelivery<Result>: ~Copyable {
  @usableFromInline let site: ProxySite<Result>
  @usableFromInline var turns: AwaitedTurns
  @usableFromInline var answers = ProxyAnswers<Result>()

  @inlinable
  init(_ forwarder: _ProxyForwarder, _ site: ProxySite<Result>, _ selector: Selector) {
    self.site = site
    turns = AwaitedTurns(
      selector, site.facts, at: site.place, to: forwarder.targets, of: forwarder.untyped)
  }

  /// Begins the next turn; false if the delivery is over.
  @inlinable
  public mutating func begins() -> Bool { turns.begin() }

  /// The target of the current turn, if the proxy may call it; nil if a message must be sent. Only
  /// the first call returns the target.
  @inlinable
  public mutating func target<Target>(as type: Target.Type) -> Target? { turns.take(as: type) }

  /// The message of a turn in which the proxy calls no target.
  @inlinable public var message: ProxyDelivery {
    _read { yield turns.message }
    _modify { yield &turns.message }
  }

  /// Ends the turn with an answer; nil if the target of a message has none.
  @inlinable
  public mutating func answer(_ answer: Result?) { turns.end(answer, site, &answers) }

  /// Ends the turn with an error.
  @inlinable
  public mutating func fail(_ error: any Error) { turns.fail(error) }

  /// Ends the delivery.
  @inlinable
  public consuming func conclude() -> ProxyAnswer<Result> {
    ProxyAnswer(turns.conclude(), answers.result)
  }
}

extension _ProxyForwarder {
  /// Begins the delivery of an `async` requirement. If it can throw any error, no target is asked once the
  /// task is cancelled: the sender gets a `CancellationError`. One that cannot throw it asks all, as a class
  /// that is no proxy would.
  @inlinable
  public func awaiting<Result>(
    _ site: ProxySite<Result>, _ selector: Selector
  ) -> _AwaitedProxyDelivery<Result> {
    _AwaitedProxyDelivery(self, site, selector)
  }
}

extension _ProxyMessage {
  /// Sends a message and awaits the answer.
  ///
  /// - Throws: an ``InvocationError`` if the types of the message cannot be passed, or the error of
  ///   a target or of the proxy.
  public nonisolated(nonsending) static func sendAwaiting<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, _ arguments: repeat each Argument,
    through delivery: inout ProxyDelivery
  ) async throws -> Result? {
    let message = try requirement.checked
    let call = try message.invocation(repeat each arguments)
    guard try await delivery.sendAwaiting(call) else { return nil }
    return try call.call.answer(as: Result.self, message.prepared.result)
  }
}
