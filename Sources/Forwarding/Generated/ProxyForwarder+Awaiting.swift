// SPDX-License-Identifier: Apache-2.0
public import Invocations

// Async requirements. The values that a proxy holds stay in the isolation domain of its method.

/// The delivery of an `async` requirement to the targets of a proxy, one after the other.
///
/// Only the code that `@Forwardable` writes needs it.
@_documentation(visibility: internal)
@frozen
public struct _AwaitedProxyDelivery<Result>: ~Copyable {
  @usableFromInline let selector: Selector
  @usableFromInline var turns: AwaitedTurns
  @usableFromInline var result: Result?

  @usableFromInline let combine: ((Result, Result) -> Result)?

  @inlinable
  init(
    _ forwarder: _ProxyForwarder, _ site: ProxySite<Result>, _ selector: Selector,
    endsWithTask: Bool
  ) {
    self.selector = selector
    combine = site.combine
    let wishes = AwaitedTurns.Wishes(
      isOptional: site.isOptional, hasResult: Result.self != Void.self,
      asksAll: site.combine != nil, endsWithTask: endsWithTask, hasOtherwise: site.hasOtherwise)
    turns = AwaitedTurns(
      selector, wishes, to: forwarder.targets, of: forwarder.untyped, site.place)
  }

  /// Begins the next turn; false if the delivery is over.
  @inlinable
  public mutating func begins() -> Bool { turns.begin() }

  /// The target of the current turn, if the proxy may call it; nil if a message must be sent. Only
  /// the first call returns the target.
  @inlinable
  public mutating func target<Target>(as type: Target.Type) -> Target? { turns.take(as: type) }

  /// Ends the turn with an answer; nil if the target of a message has none.
  @inlinable
  public mutating func answer(_ answer: Result?) {
    guard turns.end(isAnswer: answer != nil), let answer else { return }
    if let combine, let old = result {
      result = combine(old, answer)
    } else {
      if let old = result { turns.overrule(old, by: answer) }
      result = answer
    }
    turns.noteAnswer()
  }

  /// Ends the turn with an error.
  @inlinable
  public mutating func fail(_ error: any Error) { turns.fail(error) }

  /// Reports an error that the requirement cannot throw to the proxy.
  @usableFromInline
  @inline(never)
  func report(_ error: any Error) {
    (turns.receiver as? ForwardingProxy)?.report(unheard: error, selector)
  }

  @inlinable
  func conclude() -> ProxyAnswer<Result> {
    switch turns.conclude() {
    case .answered:
      // A requirement without a result needs no answer.
      if let result = result ?? (() as? Result) { return .answered(result) }
      return .unanswered(nil)
    case .unanswered(let error): return .unanswered(error)
    case .failed(let error): return .failed(error, result)
    }
  }

  /// Ends the delivery of a requirement that may throw any error.
  ///
  /// - Throws: the error of a target, or a ``ForwardingError`` if no target answers.
  @inlinable
  public consuming func ask() throws -> Result {
    switch conclude() {
    case .answered(let answer): return answer
    case .unanswered(let error): return try ProxyAnswer.nothing(selector, error)
    case .failed(let error, _): throw error
    }
  }

  /// Ends the delivery of a requirement that throws errors of one type, or none. Other errors are
  /// reported to the proxy.
  ///
  /// - Throws: the error of a target, if it has this type.
  @inlinable
  public consuming func ask<Thrown: Error>(
    otherwise: () throws(Thrown) -> Result
  ) throws(Thrown) -> Result {
    switch conclude() {
    case .answered(let answer): return answer
    case .unanswered: return try otherwise()
    case .failed(let error, let answer):
      if let error = error as? Thrown { throw error }
      report(error)
      if let answer { return answer }
      return try otherwise()
    }
  }
}

extension _AwaitedProxyDelivery where Result == Void {
  /// Ends the delivery of a requirement that has no result and cannot throw.
  @inlinable
  public consuming func tell() { ask(otherwise: {}) }

  /// Ends the delivery of a requirement that has no result and may throw errors of one type.
  ///
  /// - Throws: the error of a target, if it has this type.
  @inlinable
  public consuming func tell<Thrown: Error>(orThrow type: Thrown.Type) throws(Thrown) {
    try ask(otherwise: { () throws(Thrown) in })
  }
}

extension _ProxyMessage {
  /// Sends a message and awaits the answer.
  ///
  /// - Throws: an ``InvocationError`` if the types of the message cannot be passed, or the error of
  ///   a target or of the proxy.
  public nonisolated(nonsending) static func sendAwaiting<Result, each Argument>(
    _ requirement: Requirement<Result, repeat each Argument>, _ arguments: repeat each Argument,
    through delivery: inout _AwaitedProxyDelivery<Result>
  ) async throws -> Result? {
    let message = try requirement.checked
    let call = try message.invocation(repeat each arguments)
    guard try await delivery.turns.sendAwaiting(call) else { return nil }
    return try call.call.answer(as: Result.self, message.prepared.result)
  }

  /// Refuses a requirement that cannot be sent as a message to a target that is reached by messages
  /// only.
  ///
  /// - Throws: ``ForwardingError/notAMessage(_:because:)``, unless the target does not
  ///   get this message either.
  public static func refuse<Result>(
    _ selector: Selector, because reason: String,
    through delivery: inout _AwaitedProxyDelivery<Result>
  ) throws -> Result? {
    try delivery.turns.refuse { try refuse(selector, because: reason, through: &$0) }
  }
}

extension _ProxyForwarder {
  /// Begins the delivery of an `async` requirement.
  ///
  /// - Parameter endsWithTask: whether no target is asked once the task is cancelled: the sender gets
  ///   a `CancellationError`. One that cannot throw it asks all, as a class that is no proxy would.
  @inlinable
  public func awaiting<Result>(
    _ site: ProxySite<Result>, _ selector: Selector, endsWithTask: Bool = false
  ) -> _AwaitedProxyDelivery<Result> {
    _AwaitedProxyDelivery(self, site, selector, endsWithTask: endsWithTask)
  }
}
