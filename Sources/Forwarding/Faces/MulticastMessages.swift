/// The messages of a protocol, ready to be sent to the targets of a ``Multicast``.
///
/// ```
/// try delegates.messages.chatShouldSend.all(chat, "text")       // [true, false]
/// try delegates.messages.titleOfChat.first(chat)                // "garden"
/// try delegates.messages.chatDidReceive.report(chat, message)   // what became of it at each target
/// ```
///
/// A face gives one answer, as its protocol says; these give all.
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
  /// The messages of the protocol, to get more than the one answer that the ``face`` gives.
  public final var messages: MulticastMessages<Face> { MulticastMessages(proxy: proxy) }
}

/// A message of a protocol to many targets: the ways to get their answers.
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

  /// The answers of all targets, in order. If some throw, all others are asked first; then the first
  /// error is thrown, and the others are diagnostics.
  public func all(_ arguments: repeat each Argument) throws -> [Result] {
    try requirement.checked.all(repeat each arguments, on: proxy)
  }

  /// The first answer, which ends the delivery; nil if nobody answers.
  public func first(_ arguments: repeat each Argument) throws -> Result? {
    try requirement.checked.first(repeat each arguments, on: proxy)
  }

  /// Combines the answers of the targets, from the first on; `combine` may end the delivery.
  public func fold<Sum>(
    _ arguments: repeat each Argument, into initial: Sum,
    _ combine: (inout Sum, Result) throws -> MulticastProxy.Step
  ) throws -> Sum {
    try requirement.checked.fold(repeat each arguments, on: proxy, into: initial, combine)
  }

  /// The answer or the error of each target that has the message, in order.
  public func gather(
    _ arguments: repeat each Argument
  ) throws -> [Swift.Result<Result, any Error>] {
    try requirement.checked.gather(repeat each arguments, on: proxy)
  }

  /// What became of the message at each target. Throws only if it cannot be delivered.
  public func report(_ arguments: repeat each Argument) throws -> TypedReport<Result> {
    try requirement.checked.report(repeat each arguments, on: proxy)
  }
}
