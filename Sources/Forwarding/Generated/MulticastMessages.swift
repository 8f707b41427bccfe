// SPDX-License-Identifier: Apache-2.0
/// The messages of a protocol, for sending them to the targets of a ``Multicast``.
///
/// ```
/// try delegates.messages.chatShouldSend.all(chat, "text")       // [true, false]
/// try delegates.messages.titleOfChat.first(chat)                // "garden"
/// try delegates.messages.chatDidReceive.report(chat, message)   // what became of it at each target
/// ```
///
/// A proxy returns one answer, as its protocol requires; these messages return all of them. A
/// requirement that is `async` is awaited, by the functions that have a parameter `concurrently`:
///
/// ```
/// try await delegates.messages.uploadAs.all(file, "notes", concurrently: true)  // all receipts
/// ```
///
/// ```swift
/// func ask<Proxy: GeneratedProxy>(
///   _ delegates: Multicast<Proxy>, _ name: KeyPath<Proxy.__Messages, Requirement<Bool, String>>
/// ) throws -> [Bool] {
///   try delegates.messages[dynamicMember: name].all("text")
/// }
/// ```
@dynamicMemberLookup
public struct MulticastMessages<Proxy> {
  let untyped: MulticastProxy

  /// A message by its name.
  public subscript<Result, each Argument>(
    dynamicMember name: KeyPath<Proxy.__Messages, Requirement<Result, repeat each Argument>>
  ) -> MulticastMessage<Proxy, Result, repeat each Argument> where Proxy: GeneratedProxy {
    MulticastMessage(requirement: Proxy.__Messages()[keyPath: name], untyped: untyped)
  }
}

extension Multicast where Subject: GeneratedProxy {
  /// The messages of the protocol, for getting more than the one answer that the ``proxy`` returns.
  public final var messages: MulticastMessages<Subject> { MulticastMessages(untyped: forwarder) }
}

/// A message of a protocol to many targets, and the ways to collect their answers.
///
/// ```swift
/// func heights<Proxy: GeneratedProxy>(
///   _ views: Multicast<Proxy>, _ height: KeyPath<Proxy.__Messages, Requirement<Double>>
/// ) throws -> Double {
///   try views.messages[dynamicMember: height].all().reduce(0, +)
/// }
/// ```
public struct MulticastMessage<Proxy, Result, each Argument> {
  @usableFromInline let requirement: Requirement<Result, repeat each Argument>
  @usableFromInline let untyped: MulticastProxy

  /// Returns the answers of all targets, in order.
  ///
  /// - Throws: The first error of a target, when all others were asked; later ones are diagnostics.
  @inlinable
  public func all(_ arguments: repeat each Argument) throws -> [Result] {
    try requirement.checked.all(repeat each arguments, on: untyped)
  }

  /// Returns the first answer, which ends the delivery; nil if no target answers.
  ///
  /// - Throws: The first error of a target that was asked before.
  @inlinable
  public func first(_ arguments: repeat each Argument) throws -> Result? {
    try requirement.checked.first(repeat each arguments, on: untyped)
  }

  /// Returns what became of the message at each target.
  ///
  /// - Throws: What keeps the message from being delivered. What targets throw is in the report alone.
  public func report(_ arguments: repeat each Argument) throws -> DeliveryReport<Result> {
    try requirement.checked.report(repeat each arguments, on: untyped)
  }
}

// The requirement may run in another isolation domain than its sender.
extension MulticastMessage where Proxy: Sendable, Result: Sendable, repeat each Argument: Sendable {
  /// Sends the message to all targets, awaits them, and returns the one answer that the proxy's
  /// result rule selects. The parameters are those of
  /// ``Message/callAsFunction(_:on:concurrently:)``.
  ///
  /// - Throws: the first error of a target, a ``ForwardingError`` if no target answers, or
  ///   `CancellationError` if the task is cancelled before all targets were called.
  @discardableResult
  public nonisolated(nonsending) func callAsFunction(
    _ arguments: repeat each Argument, concurrently: Bool
  ) async throws -> Result {
    try await requirement.checked(repeat each arguments, on: untyped, concurrently: concurrently)
  }

  /// Returns the answers of all targets that are awaited, in the order of the targets.
  ///
  /// - Throws: the first error of a target, after all targets were called; the other errors are
  ///   diagnostics.
  public nonisolated(nonsending) func all(
    _ arguments: repeat each Argument, concurrently: Bool
  ) async throws -> [Result] {
    try await requirement.checked.all(
      repeat each arguments, on: untyped, concurrently: concurrently)
  }

  /// Returns the first answer of targets that are awaited, and ends the delivery with it; nil if no
  /// target answers. A concurrent delivery cancels the calls of the other targets.
  ///
  /// - Throws: the first error of a target, or `CancellationError` if the task is cancelled before.
  public nonisolated(nonsending) func first(
    _ arguments: repeat each Argument, concurrently: Bool
  ) async throws -> Result? {
    try await requirement.checked.first(
      repeat each arguments, on: untyped, concurrently: concurrently)
  }

  /// Sends the message, awaits the targets, and returns the outcome at each.
  ///
  /// - Throws: an error only if the message cannot be delivered. The errors of targets are in the
  ///   report.
  public nonisolated(nonsending) func report(
    _ arguments: repeat each Argument, concurrently: Bool
  ) async throws -> DeliveryReport<Result> {
    try await requirement.checked.report(
      repeat each arguments, on: untyped, concurrently: concurrently)
  }
}

extension MulticastMessage: Sendable where Proxy: Sendable {}
