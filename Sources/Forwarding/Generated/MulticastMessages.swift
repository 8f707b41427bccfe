// SPDX-License-Identifier: Apache-2.0
/// The messages of a protocol, for sending them to the targets of a ``Multicast``.
///
/// <!-- macros -->
/// ```swift
/// delegates.add(window)
/// try delegates.messages.chatShouldSend.all(chat, "text")             // [true]
/// try delegates.messages.chatDidReceive.report(chat, hello).answered  // 1
/// ```
///
/// A proxy returns one answer, as its protocol requires; these messages return all of them. A
/// requirement that is `async` is awaited, by the functions that have a parameter `concurrently`.
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
/// <!-- macros -->
/// ```swift
/// delegates.add(window)
/// try delegates.messages.chatShouldSend.all(chat, "").allSatisfy { $0 }  // false
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
  /// Awaits all targets, as ``Message/callAsFunction(_:on:concurrently:)`` does.
  ///
  /// - Throws: as that does.
  @discardableResult
  public nonisolated(nonsending) func callAsFunction(
    _ arguments: repeat each Argument, concurrently: Bool
  ) async throws -> Result {
    try await requirement.checked(repeat each arguments, on: untyped, concurrently: concurrently)
  }

  /// Returns the answers of all targets that are awaited, in the order of the targets.
  ///
  /// - Throws: as ``Message/all(_:on:concurrently:)`` does.
  public nonisolated(nonsending) func all(
    _ arguments: repeat each Argument, concurrently: Bool
  ) async throws -> [Result] {
    try await requirement.checked.all(
      repeat each arguments, on: untyped, concurrently: concurrently)
  }

  /// Returns the first answer of targets that are awaited, as ``Message/first(_:on:concurrently:)`` does.
  ///
  /// - Throws: as that does.
  public nonisolated(nonsending) func first(
    _ arguments: repeat each Argument, concurrently: Bool
  ) async throws -> Result? {
    try await requirement.checked.first(
      repeat each arguments, on: untyped, concurrently: concurrently)
  }

  /// Returns what became of the message at each target, awaiting them.
  ///
  /// - Throws: what keeps the message from being delivered.
  public nonisolated(nonsending) func report(
    _ arguments: repeat each Argument, concurrently: Bool
  ) async throws -> DeliveryReport<Result> {
    try await requirement.checked.report(
      repeat each arguments, on: untyped, concurrently: concurrently)
  }
}

extension MulticastMessage: Sendable where Proxy: Sendable {}
