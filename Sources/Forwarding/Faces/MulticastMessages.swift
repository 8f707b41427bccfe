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
  let requirement: Requirement<Result, repeat each Argument>
  let proxy: MulticastProxy

  /// Returns the answers of all targets, in order.
  ///
  /// - Throws: the first error of a target, after all targets were called; the other errors are
  ///   diagnostics. An ``InvocationError`` if the types of the message cannot be passed.
  public func all(_ arguments: repeat each Argument) throws -> [Result] {
    try requirement.checked.all(repeat each arguments, on: proxy)
  }

  /// Returns the first answer, and ends the delivery with it; nil if no target answers.
  ///
  /// - Throws: the first error of a target before it, or an ``InvocationError`` if the types of the
  ///   message cannot be passed.
  public func first(_ arguments: repeat each Argument) throws -> Result? {
    try requirement.checked.first(repeat each arguments, on: proxy)
  }

  /// Combines the answers of the targets in order. `combine` may end the delivery.
  ///
  /// - Throws: the error of `combine`, the first error of a target, or an ``InvocationError`` if
  ///   the types of the message cannot be passed.
  public func fold<Sum>(
    _ arguments: repeat each Argument, into initial: Sum,
    _ combine: (inout Sum, Result) throws -> MulticastProxy.Step
  ) throws -> Sum {
    try requirement.checked.fold(repeat each arguments, on: proxy, into: initial, combine)
  }

  /// Returns the answer or the error of each target that has a method for the message, in order.
  ///
  /// - Throws: an error only if the message cannot be delivered.
  public func gather(
    _ arguments: repeat each Argument
  ) throws -> [Swift.Result<Result, any Error>] {
    try requirement.checked.gather(repeat each arguments, on: proxy)
  }

  /// Sends the message, and returns the outcome at each target.
  ///
  /// - Throws: an error only if the message cannot be delivered. The errors of targets are in the
  ///   report.
  public func report(_ arguments: repeat each Argument) throws -> TypedReport<Result> {
    try requirement.checked.report(repeat each arguments, on: proxy)
  }
}
