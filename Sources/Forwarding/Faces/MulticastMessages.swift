// SPDX-License-Identifier: Apache-2.0
/// The messages of a protocol, for sending them to the targets of a ``Multicast``.
///
/// ```
/// try delegates.messages.chatShouldSend.all(chat, "text")       // [true, false]
/// try delegates.messages.titleOfChat.first(chat)                // "garden"
/// try delegates.messages.chatDidReceive.report(chat, message)   // what became of it at each target
/// ```
///
/// A face returns one answer, as its protocol requires; these messages return all of them.
///
/// ```swift
/// func ask<Face: ForwardingFace>(
///   _ delegates: Multicast<Face>, _ name: KeyPath<Face.__Messages, Requirement<Bool, String>>
/// ) throws -> [Bool] {
///   try delegates.messages[dynamicMember: name].all("text")
/// }
/// ```
@dynamicMemberLookup
public struct MulticastMessages<Face: ForwardingFace> {
  let proxy: MulticastProxy

  /// A message by its name.
  public subscript<Result, each Argument>(
    dynamicMember name: KeyPath<Face.__Messages, Requirement<Result, repeat each Argument>>
  ) -> MulticastMessage<Result, repeat each Argument> {
    MulticastMessage(requirement: Face.__Messages()[keyPath: name], proxy: proxy)
  }
}

extension Multicast {
  /// The messages of the protocol, for getting more than the one answer that the ``face`` returns.
  public final var messages: MulticastMessages<Face> { MulticastMessages(proxy: proxy) }
}

/// A message of a protocol to many targets, and the ways to collect their answers.
///
/// ```swift
/// func heights<Face: ForwardingFace>(
///   _ views: Multicast<Face>, _ height: KeyPath<Face.__Messages, Requirement<Double>>
/// ) throws -> Double {
///   try views.messages[dynamicMember: height].fold(into: 0) { sum, height in
///     sum += height
///     return .next
///   }
/// }
/// ```
public struct MulticastMessage<Result, each Argument>: Sendable {
  @usableFromInline let requirement: Requirement<Result, repeat each Argument>
  @usableFromInline let proxy: MulticastProxy

  @usableFromInline
  var prepared: PreparedMessage {
    get throws(InvocationError) {
      guard let prepared = requirement.prepared else { throw requirement.missing }
      return prepared
    }
  }

  /// Returns the answers of all targets, in order.
  ///
  /// - Throws: The first error of a target, when all others were asked; later ones are diagnostics.
  @inlinable
  public func all(_ arguments: repeat each Argument) throws -> [Result] {
    try prepared.all((repeat each arguments), as: requirement.selector, on: proxy)
  }

  /// Returns the first answer, which ends the delivery; nil if no target answers.
  ///
  /// - Throws: The first error of a target that was asked before.
  @inlinable
  public func first(_ arguments: repeat each Argument) throws -> Result? {
    try prepared.first((repeat each arguments), as: requirement.selector, on: proxy)
  }

  /// Combines the answers of the targets, from the first on; `combine` may end the delivery.
  ///
  /// - Throws: The error of `combine`, or else the first error of a target.
  @inlinable
  public func fold<Sum>(
    _ arguments: repeat each Argument, into initial: Sum,
    _ combine: (inout Sum, Result) throws -> MulticastProxy.Step
  ) throws -> Sum {
    try prepared.fold(
      (repeat each arguments), as: requirement.selector, on: proxy, into: initial, combine)
  }

  /// Returns what became of the message at each target.
  ///
  /// - Throws: What keeps the message from being delivered. What targets throw is in the report alone.
  public func report(_ arguments: repeat each Argument) throws -> TypedReport<Result> {
    try requirement.checked.report(repeat each arguments, on: proxy)
  }
}
