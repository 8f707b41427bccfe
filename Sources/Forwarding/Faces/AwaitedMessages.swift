// SPDX-License-Identifier: Apache-2.0
/// The messages of a protocol, for sending them to the targets of a ``Multicast`` and awaiting
/// their answers.
///
/// ```
/// try await delegates.awaitedMessages.uploadAs.all(file, "notes", delivery: .concurrent)  // all receipts
/// ```
///
/// A face awaits one target after the other, and returns one answer; these messages return all
/// answers, or go to all targets at once. The values are `Sendable`, and so are the targets,
/// because a requirement may run in another isolation domain than its sender.
///
/// ```swift
/// func ask<Face: ForwardingFace & Sendable>(
///   _ delegates: Multicast<Face>, _ name: KeyPath<Face.__Messages, Requirement<Bool, String>>
/// ) async throws -> [Bool] {
///   try await delegates.awaitedMessages[dynamicMember: name].all("text", delivery: .concurrent)
/// }
/// ```
@dynamicMemberLookup
public struct AwaitedMessages<Face: ForwardingFace & Sendable>: Sendable {
  fileprivate let proxy: MulticastProxy

  /// A message by its name.
  public subscript<Result: Sendable, each Argument: Sendable>(
    dynamicMember name: KeyPath<Face.__Messages, Requirement<Result, repeat each Argument>>
  ) -> AwaitedMulticastMessage<Result, repeat each Argument> {
    AwaitedMulticastMessage(requirement: Face.__Messages()[keyPath: name], proxy: proxy)
  }
}

extension Multicast where Face: Sendable {
  /// The messages of the protocol, for awaiting more than the one answer that the ``face`` returns.
  public final var awaitedMessages: AwaitedMessages<Face> { AwaitedMessages(proxy: proxy) }
}

/// A message of a protocol to many targets that is awaited, and the ways to collect their answers.
///
/// ```swift
/// func titles<Face: ForwardingFace & Sendable>(
///   _ views: Multicast<Face>, _ title: KeyPath<Face.__Messages, Requirement<String>>
/// ) async throws -> String? {
///   try await views.awaitedMessages[dynamicMember: title].first()
/// }
/// ```
public struct AwaitedMulticastMessage<Result: Sendable, each Argument: Sendable>: Sendable {
  fileprivate let requirement: Requirement<Result, repeat each Argument>
  fileprivate let proxy: MulticastProxy

  private var message: AsyncMessage<Result, repeat each Argument> {
    get throws(InvocationError) { AsyncMessage(try requirement.checked) }
  }

  /// Sends the message to all targets, and returns the one answer that the proxy's result rule
  /// selects.
  ///
  /// - Throws: the first error of a target, a ``ForwardingError`` if no target answers, or
  ///   `CancellationError` if the task is cancelled before all targets were called.
  @discardableResult
  public nonisolated(nonsending) func callAsFunction(
    _ arguments: repeat each Argument, delivery: AwaitedDelivery = .sequential
  ) async throws -> Result {
    try await message(repeat each arguments, on: proxy, delivery: delivery)
  }

  /// Returns the answers of all targets, in the order of the targets.
  ///
  /// - Throws: the first error of a target, after all targets were called; the other errors are
  ///   diagnostics.
  public nonisolated(nonsending) func all(
    _ arguments: repeat each Argument, delivery: AwaitedDelivery = .sequential
  ) async throws -> [Result] {
    try await message.all(repeat each arguments, on: proxy, delivery: delivery)
  }

  /// Returns the first answer, and ends the delivery with it; nil if no target answers. A
  /// concurrent delivery cancels the calls of the other targets.
  ///
  /// - Throws: the first error of a target, or `CancellationError` if the task is cancelled before.
  public nonisolated(nonsending) func first(
    _ arguments: repeat each Argument, delivery: AwaitedDelivery = .sequential
  ) async throws -> Result? {
    try await message.first(repeat each arguments, on: proxy, delivery: delivery)
  }

  /// Sends the message, and returns the outcome at each target.
  ///
  /// - Throws: an error only if the message cannot be delivered. The errors of targets are in the
  ///   report.
  public nonisolated(nonsending) func report(
    _ arguments: repeat each Argument, delivery: AwaitedDelivery = .sequential
  ) async throws -> TypedReport<Result> {
    try await message.report(repeat each arguments, on: proxy, delivery: delivery)
  }

  /// Returns the answer or the error of each target that has the message, in the order of the
  /// targets.
  ///
  /// - Throws: an error only if the message cannot be delivered.
  public nonisolated(nonsending) func gather(
    _ arguments: repeat each Argument, delivery: AwaitedDelivery = .sequential
  ) async throws -> [Swift.Result<Result, any Error>] {
    try await report(repeat each arguments, delivery: delivery).entries.compactMap { entry in
      entry.answer.map { .success($0) } ?? entry.outcome.error.map { .failure($0) }
    }
  }
}
