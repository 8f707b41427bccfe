/// The messages of a protocol, ready to be sent to the targets of a ``Multicast`` and to be awaited.
///
/// ```
/// try await delegates.awaitedMessages.uploadAs.all(file, "notes", delivery: .concurrent)  // all receipts
/// ```
///
/// A face awaits one target after the other, and gives one answer; these give all, or go to all at once. What
/// they carry is `Sendable`, and so are the targets, as a requirement may run elsewhere than its sender.
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
  /// The messages of the protocol, to await more than the one answer that the ``face`` gives.
  public final var awaitedMessages: AwaitedMessages<Face> { AwaitedMessages(proxy: proxy) }
}

/// A message of a protocol to many targets that is awaited: the ways to get their answers.
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

  /// The one answer that counts.
  @discardableResult
  public nonisolated(nonsending) func callAsFunction(
    _ arguments: repeat each Argument, delivery: AwaitedDelivery = .sequential
  ) async throws -> Result {
    try await message(repeat each arguments, on: proxy, delivery: delivery)
  }

  /// The answers of all targets, in their order. If some throw, all others are asked as well; then the first
  /// error is thrown, and the others are diagnostics.
  public nonisolated(nonsending) func all(
    _ arguments: repeat each Argument, delivery: AwaitedDelivery = .sequential
  ) async throws -> [Result] {
    try await message.all(repeat each arguments, on: proxy, delivery: delivery)
  }

  /// The first answer, which ends the delivery, and cancels the others of all at once; nil if nobody answers.
  public nonisolated(nonsending) func first(
    _ arguments: repeat each Argument, delivery: AwaitedDelivery = .sequential
  ) async throws -> Result? {
    try await message.first(repeat each arguments, on: proxy, delivery: delivery)
  }

  /// What became of the message at each target. Throws only if it cannot be delivered.
  public nonisolated(nonsending) func report(
    _ arguments: repeat each Argument, delivery: AwaitedDelivery = .sequential
  ) async throws -> TypedReport<Result> {
    try await message.report(repeat each arguments, on: proxy, delivery: delivery)
  }
}
